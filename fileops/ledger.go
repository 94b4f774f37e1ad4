package fileops

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/fileops/resource"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Ledger is an opened ledger directory. Goroutines may share one.
type Ledger struct {
	layout.Paths
	fs       *trust.FS
	store    store.Store
	options  Options
	longPart int64
	config   Config
	complete bool // the ledger's directories are known to exist
	absent   bool // there is no ledger; for dry runs
	local    bool // it commits by rename, on a file system of this host alone

	newFiles map[string]*NewFile // by their paths: see NewFile

	mu        sync.Mutex
	leftovers []error
	kept      []string
}

// Options say how one process uses a ledger. The zero value means the operating system, no waiting,
// and full durability.
type Options struct {
	FS          disk.FS       // nil: the operating system
	LockTimeout time.Duration // how long an edit may wait for its lock; 0: try once
	Sync        disk.Sync
	// on a shared ledger, also delete paths outside tmp/ that other members of the group name
	TrustGroup bool
	// Owner is the name or number of a user, besides this one and root, to whom a shared ledger may
	// belong: whoever owns it can read and change all that is done in it. AnyOwner: it may belong
	// to any user.
	Owner    string
	AnyOwner bool
	// root, who reads everything anyway, may open the ledger of another user. Then no lock is
	// given, so that root leaves nothing there that locks its owner out.
	Reads bool
	Home  string // of the user: no resource may be or contain it; "" if there is none

	// Observe is called under the lock of an edit. Verbs judge by its result. If it is nil, they
	// get an empty observation.
	Observe func() observe.Observation

	// By is called in an edit that is recorded, and says who makes it. If it is nil, the record
	// does not say it.
	By func() audit.By
}

// Absent returns an empty ledger that does not exist, for dry runs in dir.
func Absent(dir string, o Options) (*Ledger, error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, err
	}
	l.absent = true
	return l, nil
}

// Absent reports whether the ledger does not exist. See the function of that name.
func (l *Ledger) Absent() bool { return l.absent }

func newLedger(dir string, o Options) (*Ledger, error) {
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Observe == nil {
		o.Observe = func() observe.Observation { return observe.Observation{} }
	}

	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	trusted := &trust.FS{FS: o.FS, UID: o.FS.Euid(), Sync: o.Sync}
	if o.Reads && trusted.UID == 0 {
		if info, err := o.FS.Stat(dir); err == nil && info.UID > 0 {
			trusted.UID, trusted.Foreign = info.UID, true
		}
	}
	l := &Ledger{Paths: layout.In(dir), fs: trusted, options: o, longPart: longPart}
	l.use(Config{})
	return l, nil
}

// use makes c the settings of l.
func (l *Ledger) use(c Config) {
	l.config, l.fs.Shared = c, c.Shared
	l.store = store.Rename(l.fs, l.recordLeftover)
	if c.Commit == CommitLink {
		l.store = store.Link(l.fs, l.recordLeftover)
	}
}

// Config returns the content of ledger.json.
func (l *Ledger) Config() Config { return l.config }

// Notify returns a Notifier for the operations ops, while they are not archived, and for the
// registries of groupIDs. They need not exist. The caller must close it.
func (l *Ledger) Notify(ops, groupIDs []string) *notify.Notifier {
	return l.NotifyAll(ops, groupIDs, nil)
}

// NotifyAll is like Notify, also for the queues queueIDs.
func (l *Ledger) NotifyAll(ops, groupIDs, queueIDs []string) *notify.Notifier {
	var paths []string
	for _, id := range ops {
		paths = append(paths, l.OperationPath(id))
	}
	for _, id := range groupIDs {
		paths = append(paths, l.SupervisorsPath(id))
	}
	for _, id := range queueIDs {
		paths = append(paths, l.QueuePath(id))
	}
	return notify.New(l.fs.FS, paths)
}

// NotifyQueue returns a Notifier for a queue, which need not exist. The caller must close it.
func (l *Ledger) NotifyQueue(id string) *notify.Notifier {
	return l.NotifyAll(nil, nil, []string{id})
}

// rules returns what the ledger may delete.
func (l *Ledger) rules() resource.Rules {
	return resource.Rules{Paths: l.Paths, FS: l.fs, Home: l.options.Home,
		Roots: l.config.ResourceRoots}
}

// CheckRoots returns ErrRoot if one of roots, which are clean absolute paths, is not fit to be a
// resource root of a ledger in dir. See resource.Rules.
func CheckRoots(dir string, roots []string, o Options) error {
	l, err := newLedger(dir, o)
	if err != nil {
		return err
	}
	l.config.ResourceRoots = roots
	return l.rules().CheckRoots()
}

// CheckResource returns ErrResource unless a call of the operation op may name path as a resource.
// See resource.Rules.
func (l *Ledger) CheckResource(op, path string) error { return l.rules().Check(op, path) }

// Leftovers returns, and forgets, the errors of tidying up after committed edits.
func (l *Ledger) Leftovers() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	leftovers := l.leftovers
	l.leftovers = nil
	return leftovers
}

func (l *Ledger) recordLeftover(err error) {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leftovers = append(l.leftovers, err)
	}
}
