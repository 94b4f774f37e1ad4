package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Open opens the ledger in dir. It returns
//
//   - ErrNoLedger if dir does not exist or is not a ledger;
//   - ErrConfig if ledger.json is malformed, missing beside operation or group files, or made by a
//     newer program;
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

// Create opens the ledger in dir like Open, after creating what is missing: readable for the user
// alone, or for the group if c.Shared. c applies only if the ledger does not exist; its zero
// ProtocolVersion and Commit mean the current ones. Besides the errors of Open it returns
// ErrCannotCreate.
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

func (l *Ledger) open() error {
	data, info, err := l.fs.ReadAny(l.MarkerPath())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if err := l.checkUnmarked(); err != nil {
			return err
		}
		data, info, err = l.fs.ReadAny(l.MarkerPath())
	}

	if errors.Is(err, wire.ErrCorrupt) {
		return fmt.Errorf("%w: %v: %s", ErrConfig, err, restoreMarker)
	}
	if err != nil {
		return err
	}

	config, err := decodeConfig(data)
	if err != nil {
		// The cause may be ErrCorrupt, which is about the files of operations and groups.
		return fmt.Errorf("%w: %s: %v", ErrConfig, l.MarkerPath(), err)
	}

	l.use(config)
	if err := l.fs.CheckFile(l.MarkerPath(), info); err != nil {
		return err
	}
	shared, err := l.network()
	if err != nil {
		return err
	}
	l.local = shared == "" && !l.store.Leased()

	if o, ok := l.fs.FS.(disk.OS); ok {
		o.Polls = l.store.Leased()
		l.fs.FS = o
	}

	l.fs.FS = l.fs.Within(l.Dir(), l.checkDir)

	return l.checkDirs()
}

// checkDir returns an fs.ErrPermission unless the directory at path is safe to trust.
func (l *Ledger) checkDir(path string, info disk.Info) error {
	if err := l.fs.CheckDir(path, info); err != nil || path != l.Dir() {
		return err
	}
	return l.checkOwner(info)
}

// checkOwner returns ErrPermission for the directory of a shared ledger of another user, unless
// Options name that one. A user who makes a ledger first, where others expect their own, could
// otherwise answer their questions, and read what they write.
func (l *Ledger) checkOwner(info disk.Info) error {
	const root = 0
	uid, o := info.UID, l.options
	if uid == l.fs.UID || l.fs.UID < 0 || uid == root || o.AnyOwner {
		return nil
	}
	name := trust.UserName(uid)
	if o.Owner != "" && (o.Owner == name || o.Owner == strconv.Itoa(uid)) {
		return nil
	}
	return fmt.Errorf("%s: %w: the ledger belongs to %s, who can read and change all that is done in it: "+
		"if you trust that user, give --trust-owner %s, or set $DPL_TRUST_OWNER", l.Dir(), ErrPermission,
		name, strings.TrimPrefix(name, "uid "))
}

// checkUnmarked returns ErrNoLedger for a directory that is not a ledger, and ErrConfig for one
// that has lost its ledger.json. It returns nil if there is a ledger.json now.
func (l *Ledger) checkUnmarked() error {
	names, err := l.fs.ReadDir(l.Dir())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %s", ErrNoLedger, l.Dir())
	}
	if err != nil {
		return err
	}

	inOperations, err := l.fs.Entries(l.OperationsDir())
	if err != nil {
		return err
	}

	inQueues, err := l.fs.Entries(l.QueuesDir())
	if err != nil {
		return err
	}

	switch {
	case slices.Contains(names, layout.Marker):
		return nil
	case len(inOperations)+len(inQueues) == 0 && !slices.ContainsFunc(names, isGroupFile):
		return fmt.Errorf("%w: %s", ErrNoLedger, l.Dir())
	}

	if _, err := l.fs.Lstat(l.MarkerPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	return fmt.Errorf("%w: %s has files of a ledger but no ledger.json: restore it, or move them "+
		"away", ErrConfig, l.Dir())
}

// isGroupFile reports whether name is a file of a group. A lock file does not count: it is empty,
// and many programs use such names.
func isGroupFile(name string) bool {
	switch kind, _ := layout.InLedger(name); kind {
	case layout.SupervisorsFile, layout.OrchestratorFile, layout.AlertsFile,
		layout.EarlierAlerts:
		return true
	}
	return false
}

// checkDirs checks that operations/ is safe to trust. If l.fs reaches it, the ledger's own
// directory is trusted.
func (l *Ledger) checkDirs() error {
	info, err := l.fs.Lstat(l.OperationsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	l.complete = writable(info)
	return l.fs.CheckDir(l.OperationsDir(), info)
}

// create creates the directory and then, before anything else, ledger.json. If several processes do
// this at once, one of them decides the content of ledger.json.
func (l *Ledger) create(c Config) error {
	if c.ProtocolVersion == 0 {
		c.ProtocolVersion = protocolVersion
	}

	l.use(c) // for the modes of directories
	if err := l.mkdirAll(l.Dir()); err != nil {
		return err
	}

	if c.Commit == "" {
		shared, err := l.network()
		if err != nil {
			return err
		}
		c.Commit = commitOn(shared)
	}

	if err := c.check(); err != nil {
		return err
	}

	data, err := c.encode()
	if err != nil {
		return err
	}

	l.use(c)
	info, err := l.fs.Stat(l.Dir())
	if err != nil {
		return err
	}
	if err := l.fs.CheckDir(l.Dir(), info); err != nil {
		return err
	}

	return l.fs.Publish(l.MarkerPath(), data)
}

// createDirs creates the directories inside the ledger. operations/ is the last, and becomes
// writable only when all names that lead to it would survive a power cut. So a process that finds
// it writable need not wait, and one that does not, because its creator is slow or was killed,
// creates everything again.
func (l *Ledger) createDirs() error {
	for _, dir := range []string{l.ArchiveDir(), l.TmpRoot()} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return err
		}
	}

	err := l.fs.Mkdir(l.OperationsDir(), l.fs.DirMode()&^0o222)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}

	if l.fs.Sync != disk.SyncNone {
		if err := l.syncPath(); err != nil {
			return err
		}
	}

	return l.fs.WithFile(l.OperationsDir(), func(f disk.File) error {
		if info, err := f.Stat(); err != nil || writable(info) {
			return err
		}
		if err := f.Chmod(l.fs.DirMode()); err != nil || l.fs.Sync == disk.SyncNone {
			return err
		}
		return f.Sync()
	})
}

// commitOn returns the way to commit on a file system that FS.Network calls shared.
func commitOn(shared string) string {
	if shared != "" {
		return CommitLink
	}
	return CommitRename
}

// network returns FS.Network of the ledger. It returns an error for a file system on which locks do
// not exclude other hosts.
func (l *Ledger) network() (string, error) {
	name, err := l.fs.Network(l.Dir())
	if err == nil && name == "fuse.sshfs" {
		err = fmt.Errorf("%w: %s: sshfs shares no locks between hosts: put it on a file system "+
			"that does", ErrConfig, l.Dir())
	}
	return name, err
}

func writable(dir disk.Info) bool { return dir.Mode&0o200 != 0 }

// syncPath makes durable the names in the ledger, its own name, and those of the directories above
// it, which another process may just have created. It skips directories above that this user cannot
// open or that are not on a disk: those are older.
func (l *Ledger) syncPath() error {
	ledger, err := l.fs.Resolve(l.Dir())
	if err != nil {
		return err
	}

	for dir := ledger; ; dir = filepath.Dir(dir) {
		err := l.fs.WithFile(dir, disk.File.Sync)
		if far := len(dir) < len(filepath.Dir(ledger)); far &&
			(errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL)) {
			err = nil
		}
		if err != nil || filepath.Dir(dir) == dir {
			return err
		}
	}
}

// mkdirAll creates dir and the missing directories above it, for the user alone.
func (l *Ledger) mkdirAll(dir string) error {
	if _, err := l.fs.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if parent := filepath.Dir(dir); parent != dir {
		if err := l.mkdirAll(parent); err != nil {
			return err
		}
	}

	if dir == l.Dir() {
		return l.fs.EnsureDir(dir)
	}
	if err := l.fs.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}

	return nil
}
