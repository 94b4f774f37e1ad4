package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// The ways to use a file, as in disk.FS.Access.
const (
	toRead  = 4
	toWrite = 2
	toReach = 1
)

// access returns an fs.ErrPermission if commands of this user cannot use f as they need to.
func (s *Survey) access(f Found) error {
	want := s.needs(f)
	if want == 0 || !errors.Is(s.files.Access(f.Path, want), fs.ErrPermission) {
		return nil
	}

	verb, bits := "read", "r"
	if want&toWrite != 0 {
		verb, bits = "read and write to", "rw"
	}
	if want&toReach != 0 {
		bits = "rwx"
	}
	cure := fmt.Sprintf("chmod u+%s it", bits)
	if f.Info.UID != s.files.UID {
		cure = fmt.Sprintf("ask its owner, %s, for chmod g+%s", trust.UserName(f.Info.UID), bits)
	}
	return fmt.Errorf("%s: %w: you may not %s it (mode %04o): %s", f.Path, fs.ErrPermission, verb,
		f.Info.Mode.Perm(), cure)
}

// needs returns how commands use f. A file that edits replace, they only read.
func (s *Survey) needs(f Found) uint32 {
	l := s.Ledger
	switch f.Kind {
	case layout.Directory, layout.TmpDirectory:
		return toRead | toWrite | toReach
	case layout.LockFile, layout.AlertsFile, layout.EndedFile:
		return toRead | toWrite
	case layout.AuditFile:
		switch f.Path {
		case l.OperationAudit(f.ID), l.GroupAudit(f.ID), l.QueueAudit(f.ID):
			return toRead | toWrite
		}
		return toRead // a sealed part
	case layout.LogFile:
		if f.Info.UID == s.files.UID { // it is not even for the group of a shared ledger
			return toRead | toWrite
		}
		return 0
	case layout.Stranger, layout.TempFile, layout.TrashFile, layout.ScratchDirectory:
		return 0
	}
	return toRead
}

// nested lists the directories in which groups and queues have files of their own, and notes/ and
// failures/.
func (s *Survey) nested() (err error) {
	l := s.Ledger
	for _, in := range []struct {
		dir    string
		kindOf func(name string) (layout.Kind, string)
	}{
		{l.TasksDir(), inTasks}, {l.LogsDir(), inLogs}, {l.ExitsDir(), inExits},
		{l.RestartsDir(), inRestarts},
	} {
		names, listErr := s.files.Entries(in.dir)
		err = errors.Join(err, listErr)
		for _, name := range names {
			err = errors.Join(err, s.inside(filepath.Join(in.dir, name), in.kindOf))
		}
	}
	return errors.Join(err, s.flat(l.NotesDir(), inNotes), s.flat(l.FailuresDir(), inFailures))
}

func inTasks(name string) (layout.Kind, string) {
	_, ok := layout.InTasks(name)
	return ours(ok, layout.DataFile)
}

func inLogs(name string) (layout.Kind, string) { return ours(layout.IsLog(name), layout.LogFile) }

func inExits(name string) (layout.Kind, string) {
	_, _, ok := layout.InExits(name)
	return ours(ok, layout.DataFile)
}

func inRestarts(name string) (layout.Kind, string) {
	_, _, ok := layout.InRestarts(name)
	return ours(ok, layout.DataFile)
}

func inNotes(name string) (layout.Kind, string) { return ours(layout.IsNote(name), layout.DataFile) }

func inFailures(name string) (layout.Kind, string) {
	_, _, _, ok := layout.InFailures(name)
	if _, isLock := layout.LockedBy(name); isLock {
		return ours(ok, layout.LockFile)
	}
	return ours(ok, layout.DataFile)
}

// ours returns kind for a name that has the form of DPL's.
func ours(ok bool, kind layout.Kind) (layout.Kind, string) {
	if !ok {
		kind = layout.Stranger
	}
	return kind, ""
}

// inside lists the directory of a group or queue. Anything else with such a path is not ours.
func (s *Survey) inside(dir string, kindOf func(name string) (layout.Kind, string)) error {
	info, err := s.files.Lstat(dir)
	switch {
	case err != nil:
		return trust.IgnoreMissing(err)
	case info.Mode&fs.ModeSymlink != 0: // commands refuse it
		return s.add(Found{Path: dir, Kind: layout.Directory})
	case !info.Mode.IsDir():
		return nil
	}
	return errors.Join(s.add(Found{Path: dir, Kind: layout.Directory}), s.flat(dir, kindOf))
}

// flat lists a directory of which nothing is left over: passes prune it by age.
func (s *Survey) flat(dir string, kindOf func(name string) (layout.Kind, string)) error {
	names, err := s.files.Entries(dir)
	if err != nil {
		return err
	}
	return s.list(dir, names, kindOf, func(string) bool { return false })
}
