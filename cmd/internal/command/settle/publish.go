package settle

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
)

// publications returns what to publish, by absolute paths.
func (c *settle) publications() (all []observe.Publication, err error) {
	for _, p := range c.Publish {
		var found observe.Publication
		if found.From, err = resolved(p.From); err == nil {
			found.To, err = resolved(p.To)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fileops.Unpublishable("--publish %s=%s: %w", p.From, p.To, err)
		case err != nil:
			return nil, fmt.Errorf("--publish: %w", err)
		}
		if strings.EqualFold(found.From, found.To) { // some file systems take them for one
			return nil, cli.Usagef("--publish: %q and %q are the same file", p.From, p.To)
		}
		all = append(all, found)
	}
	return all, nil
}

// resolved returns the absolute path of name, with no symbolic link in its directory.
func resolved(name string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	return filepath.Join(dir, filepath.Base(name)), err
}

// errUnchecked means that nobody can know yet whether the task is done.
var errUnchecked = errors.New("--publish: dpl-work checks the task when its command has ended: let a " +
	"task that comes --after this one publish the file")
