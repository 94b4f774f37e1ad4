package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
)

// results are the files that a call publishes if it ends well (spec §15.10).
type results struct {
	to      string                // what --to names, through symbolic links; "": nothing
	out     *fileops.NewFile      // what will be that; nil: nothing
	fd      atomic.Int64          // the descriptor of out, for look; 0: there is none yet
	sources []observe.Publication // of --publish; From is relative to the temporary directory
	copies  []*fileops.NewFile    // of those from another file system
	all     []observe.Publication // to be published, once that is known
	failed  error                 // why they cannot be published
}

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

// files returns the descriptors of the command.
func (r *results) files() []uintptr {
	if r.out == nil {
		return nil
	}
	return []uintptr{0, r.out.Fd(), 2}
}

// look describes the file of --to, which the listener does beside the runner.
func (r *results) look() (fs.FileInfo, error) {
	fd := r.fd.Load()
	if fd == 0 {
		return nil, fs.ErrNotExist
	}
	return os.Stat("/proc/self/fd/" + strconv.FormatInt(fd, 10))
}

// get returns what to publish, whose files it syncs, or copies to another file system, because that
// may take longer than a lock should be held. What is to be published is known after that, or
// failed: a command that was told to stop may have written half of it, even if it exits 0.
func (r *results) get(l *fileops.Ledger, tmp string, told bool) []observe.Publication {
	if r.all != nil || r.failed != nil {
		return r.all
	}
	if told && (r.out != nil || r.sources != nil) {
		r.fail(errors.New("publish anything: TERM came before the command had ended"))
		return nil
	}
	if r.out != nil {
		r.all = append(r.all, observe.Publication{To: r.to})
	}
	for _, p := range r.sources {
		p.From = filepath.Join(tmp, p.From)
		p, made, err := l.CopyElsewhere(p)
		if r.fail(err); err != nil {
			return nil
		}
		if made != nil {
			r.copies = append(r.copies, made)
		}
		r.all = append(r.all, p)
	}
	r.fail(l.SyncPublications(r.all))
	return r.all
}

// fail records that the results cannot be published because of why, unless that is nil.
func (r *results) fail(why error) {
	if why != nil {
		r.all, r.failed = nil, fmt.Errorf("cannot %w", why)
	}
}

// again opens another file for --to in the place of the one that an attempt has written.
func (r *results) again(l *fileops.Ledger) error {
	if r.out == nil {
		return nil
	}
	old := r.out
	out, err := l.NewFile(r.to, process.FileMode())
	if err != nil {
		return err
	}
	r.out = out
	r.fd.Store(int64(out.Fd()))
	return old.Close()
}

// close removes what was not published.
func (r *results) close(env *cli.Env) {
	if r.out != nil {
		r.copies = append(r.copies, r.out)
	}
	for _, f := range r.copies {
		if err := f.Close(); err != nil {
			env.Warnf("%v", err)
		}
	}
}
