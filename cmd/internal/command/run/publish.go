package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
)

// checkResults refuses flags about results that do not go together.
func (c *run) checkResults() error {
	if c.KeepResources && len(c.Resource) == 0 {
		return cli.Usagef("--keep-resources goes with --resource")
	}
	if strings.HasSuffix(string(c.To), "/") {
		return cli.Usagef("--to: %q is a directory: name the file in it", string(c.To))
	}
	for _, p := range c.Publish {
		if !filepath.IsLocal(p.From) {
			return cli.Usagef("--publish: want a name in $DPL_TMP before the =, not %q", p.From)
		}
	}
	return nil
}

// openResults finds what --to and --publish name, and refuses what cannot be published, before
// anything is written to the ledger. It opens the file of --to.
func (c *run) openResults(env *cli.Env, l *fileops.Ledger) error {
	r, seen := &c.results, make(map[string]bool)
	find := func(name string) (string, error) {
		path, err := target(name)
		if err == nil && seen[path] {
			err = cli.Usagef("it is named twice")
		}
		if err == nil {
			err = l.CheckNewFile(path)
		}
		seen[path] = true
		return path, err
	}

	for _, p := range c.Publish {
		to, err := find(p.To)
		if err == nil && !env.DryRun() {
			err = l.TryNewFile(to)
		}
		if err != nil {
			return resultError(l, "--publish "+p.From+"="+p.To, err)
		}
		r.sources = append(r.sources, observe.Publication{From: p.From, To: to})
	}

	if c.To == "" {
		return nil
	}
	var err error
	if r.to, err = find(string(c.To)); err == nil && !env.DryRun() {
		if r.out, err = l.NewFile(r.to, process.FileMode()); err == nil {
			r.fd.Store(int64(r.out.Fd()))
		}
	}
	return resultError(l, "--to "+string(c.To), err)
}

// resultError returns err with the flag that it is about, unless it is nil.
func resultError(l *fileops.Ledger, flag string, err error) error {
	switch {
	case err == nil:
		return nil
	case cli.StatusOf(err) == cli.StatusUsage:
		return cli.Usagef("%s: %v", flag, err)
	case l.Config().Commit == fileops.CommitLink:
		return cli.WithStatus(cli.StatusRefused, fmt.Errorf("%s: %w", flag, err))
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// target returns the absolute path of the file that name leads to, through symbolic links. The file
// need not exist, but its directory must.
func target(name string) (string, error) {
	const mostLinks = 40
	for range mostLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fileops.Unpublishable("there is no directory %q: create it first",
				filepath.Dir(name))
		case err != nil:
			return "", fileops.Unpublishable("%w", err)
		}

		path := filepath.Join(dir, filepath.Base(name))
		if name, err = os.Readlink(path); err != nil {
			return path, nil // it is no link, or what comes next says why it cannot be read
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
	}
	return "", fileops.Unpublishable("%w", syscall.ELOOP)
}
