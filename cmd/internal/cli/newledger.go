package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
)

// NewLedger has the flags for creating a ledger if there is none.
type NewLedger struct {
	Shared       bool   `help:"for a new ledger: share it with the group"`
	Commit       string `default:"" enum:"rename,link,"`
	ResourceRoot []Word `placeholder:"DIR"`
}

// Create opens the ledger, and creates it if there is none; with --dry-run it returns an absent one
// instead. An existing ledger must agree with the flags, except --shared.
func (n *NewLedger) Create(env *Env) (*fileops.Ledger, error) {
	roots, err := Absolute(n.ResourceRoot)
	if err == nil {
		err = env.CheckRoots(roots...)
	}
	if errors.Is(err, fileops.ErrRoot) {
		err = Usagef("--resource-root %v: give a directory that contains only what may be deleted",
			err)
	}
	if err != nil {
		return nil, err
	}

	l, err := env.Create(fileops.Config{Shared: n.Shared, Commit: n.Commit, ResourceRoots: roots})
	if err != nil || l.Absent() {
		return l, err
	}
	if n.Commit != "" && n.Commit != l.Config().Commit {
		return nil, fmt.Errorf("--commit %s: %w: the ledger exists, and commits by %s", n.Commit,
			fileops.ErrConfig, l.Config().Commit)
	}

	return l, checkRoots(l, roots)
}

// checkRoots returns an error for resource roots that l does not have.
func checkRoots(l *fileops.Ledger, roots []string) error {
	for _, root := range roots {
		if !slices.Contains(l.Config().ResourceRoots, root) {
			return fmt.Errorf("--resource-root %q: %w: the ledger exists: add it to resourceRoots "+
				"in %s", root, fileops.ErrConfig,
				filepath.Join(l.Dir(), layout.Marker))
		}
	}
	return nil
}

// Absolute makes paths absolute.
func Absolute(paths []Word) ([]string, error) {
	var all []string
	for _, path := range paths {
		abs, err := filepath.Abs(string(path))
		if err != nil {
			return nil, err
		}
		all = append(all, abs)
	}

	return all, nil
}
