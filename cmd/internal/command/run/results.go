package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

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
