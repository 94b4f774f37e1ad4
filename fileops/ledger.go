package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
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

// Open opens the ledger in dir. It returns
//
//   - ErrNoLedger if dir does not exist or is not a ledger;
//   - ErrConfig if ledger.json is malformed, missing beside operation or group files, or made by a newer program;
//   - ErrPermission if dir, its operations or ledger.json are not safe to trust.
func Open(dir string, o Options) (*Ledger, error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// Create opens the ledger in dir like Open, after creating what is missing of it: readable for the user alone, or for the
// group if c.Shared. c counts only for a ledger that does not exist yet; its zero ProtocolVersion and Commit mean the
// current ones. It returns ErrCannotCreate besides the errors of Open.
func Create(dir string, c Config, o Options) (*Ledger, error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, err
	}
	err = l.open()
	if errors.Is(err, ErrNoLedger) {
		if err := l.create(c); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannotCreate, err)
		}
		err = l.open()
	}
	if err == nil && !l.complete {
		if err = l.createDirs(); err != nil {
			err = fmt.Errorf("%w: %w", ErrCannotCreate, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

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

func (l *Ledger) open() error {
	data, info, err := l.readFile(l.marker())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if err := l.checkUnmarked(); err != nil {
			return err
		}
		data, info, err = l.readFile(l.marker())
	}
	if errors.Is(err, protocol.ErrCorrupt) {
		return fmt.Errorf("%w: %v", ErrConfig, err)
	}
	if err != nil {
		return err
	}
	config, err := decodeConfig(data)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, l.marker(), err)
	}
	l.config = config
	if err := l.trustFile(l.marker(), info); err != nil {
		return err
	}
	if _, err := l.network(); err != nil {
		return err
	}
	if o, ok := l.fs.(disk.OS); ok {
		o.Polls = l.linked()
		l.fs = o
	}
	l.fs = l.fs.Within(l.dir, l.trustDir)
	return l.checkDirs()
}

// checkUnmarked tells a directory that is no ledger, ErrNoLedger, from one that has lost its ledger.json, ErrConfig. It
// returns nil if there is a ledger.json by now.
func (l *Ledger) checkUnmarked() error {
	names, err := l.fs.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %s", ErrNoLedger, l.dir)
	}
	if err != nil {
		return err
	}
	inOperations, err := l.readDir(l.operations())
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(names, filepath.Base(l.marker())):
		return nil
	case len(inOperations) == 0 && !slices.ContainsFunc(names, isGroupFile):
		return fmt.Errorf("%w: %s", ErrNoLedger, l.dir)
	}
	if _, err := l.fs.Lstat(l.marker()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %s has files of a ledger but no ledger.json: restore it, or move them away", ErrConfig, l.dir)
}

// isGroupFile does not count a lock file, which contains nothing and whose name many programs use.
func isGroupFile(name string) bool {
	_, suffix, ok := groupOf(name)
	return ok && suffix != groupLockSuffix
}

// checkDirs trusts operations/. That l.fs reaches it says that it trusts the directory of the ledger.
func (l *Ledger) checkDirs() error {
	info, err := l.fs.Lstat(l.operations())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.complete = writable(info)
	return l.trustDir(l.operations(), info)
}
