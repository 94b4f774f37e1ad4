package fileops

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol"
)

// Ledger is an opened ledger directory. Goroutines may share one.
type Ledger struct {
	layout.Paths
	fs       disk.FS
	euid     int
	options  Options
	config   Config
	complete bool // the ledger's directories are known to exist
	absent   bool // there is no ledger; for dry runs

	mu        sync.Mutex
	leftovers []error
}

// Options say how one process uses a ledger. The zero value means the operating system, no waiting,
// and full durability.
type Options struct {
	FS          disk.FS       // nil: the operating system
	LockTimeout time.Duration // how long an edit may wait for its lock; 0: try once
	Sync        Sync
	// on a shared ledger, also delete paths outside tmp/ that other members of the group name
	TrustGroup bool
	Home       string // the user's home directory, which no resource may be or contain; "" if there is none

	// Observe is called under the lock of an edit. Verbs judge by its result. If it is nil, they
	// get an empty observation.
	Observe func() protocol.Observation
}

// Sync is how much of an edit is on disk when Edit returns. In every case others see all of the
// edit or nothing.
type Sync int

const (
	SyncDefault Sync = iota // SyncFile for heartbeats, else SyncFull
	SyncNone                // a power cut may leave the operation empty
	SyncFile                // a power cut may undo the edit
	SyncFull                // a power cut changes nothing
)

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
		o.Observe = func() protocol.Observation { return protocol.Observation{} }
	}

	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Ledger{Paths: layout.In(dir), fs: o.FS, euid: o.FS.Euid(), options: o}, nil
}

// Config returns the content of ledger.json.
func (l *Ledger) Config() Config { return l.config }

// Notify returns a Notifier for operations, while they are not archived, and for the registries of
// groups. They need not exist. The caller must close it.
func (l *Ledger) Notify(operations, groups []string) *notify.Notifier {
	var files []string
	for _, id := range operations {
		files = append(files, l.OperationPath(id))
	}
	for _, id := range groups {
		files = append(files, l.SupervisorsPath(id))
	}
	return notify.New(l.fs, files)
}

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

// linked reports whether edits commit by link.
func (l *Ledger) linked() bool { return l.config.Commit == CommitLink }

// sync returns how much of an edit must be on disk at its end.
func (l *Ledger) sync(beat bool) Sync {
	switch s := l.options.Sync; {
	case s != SyncDefault:
		return s
	case beat:
		return SyncFile
	}
	return SyncFull
}
