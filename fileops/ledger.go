package fileops

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// Ledger is an opened ledger directory. Goroutines may share one.
type Ledger struct {
	dir      string
	fs       disk.FS
	euid     int
	options  Options
	config   Config
	complete bool // the ledger's directories exist, whatever happens
	absent   bool // there is none: this is for dry runs

	mu        sync.Mutex
	leftovers []error
}

// Options say how one process uses a ledger. The zero value is the operating system, no waiting, and full durability.
type Options struct {
	FS          disk.FS       // nil: the operating system
	LockTimeout time.Duration // how long an edit may wait for its lock; 0: try once
	Sync        Sync
	TrustGroup  bool   // on a shared ledger, delete also outside tmp/ what other members of the group name
	Home        string // the user's home directory, which no resource may be or contain; "" if there is none

	// Observe is called under the lock of an edit, for what its verb judges by. Nil: verbs get an observation of nothing.
	Observe func() protocol.Observation
}

// Sync is how much of an edit is on disk before Edit returns. In every case others see all of the edit or nothing.
type Sync int

const (
	SyncDefault Sync = iota // SyncFile for heartbeats, else SyncFull
	SyncNone                // a power cut may leave the operation empty
	SyncFile                // a power cut may undo the edit
	SyncFull                // a power cut changes nothing
)

// Absent returns a ledger that does not exist, for dry runs in dir: it is empty.
func Absent(dir string, o Options) (*Ledger, error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, err
	}
	l.absent = true
	return l, nil
}

// Absent reports whether there is no such ledger: see the function of that name.
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
	return &Ledger{dir: dir, fs: o.FS, euid: o.FS.Euid(), options: o}, nil
}

// Dir returns the absolute path of the ledger.
func (l *Ledger) Dir() string { return l.dir }

// Config returns what ledger.json says.
func (l *Ledger) Config() Config { return l.config }

// Leftovers returns, and forgets, what could not be tidied up after edits that are nevertheless committed.
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

// sync is how much of an edit has to be on disk when it is over.
func (l *Ledger) sync(beat bool) Sync {
	switch s := l.options.Sync; {
	case s != SyncDefault:
		return s
	case beat:
		return SyncFile
	}
	return SyncFull
}
