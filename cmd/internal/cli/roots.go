package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops"
)

// Absolute returns the absolute paths of paths.
func Absolute(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		all = append(all, abs)
	}
	return all, nil
}

// CheckRoots refuses resource roots that l, which may have existed before they were asked for, does not have.
func CheckRoots(l *fileops.Ledger, roots []string) error {
	for _, root := range roots {
		if !slices.Contains(l.Config().ResourceRoots, root) {
			return fmt.Errorf("--resource-root %q: %w: the ledger exists: add it to resourceRoots in %s", root, fileops.ErrConfig,
				filepath.Join(l.Dir(), "ledger.json"))
		}
	}
	return nil
}
