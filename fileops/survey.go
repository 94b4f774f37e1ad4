package fileops

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/disk"
)

// A Survey is all that lies in a ledger, as it was found without a lock, whether or not commands would use the ledger. What was
// gone again before it could be looked at is left out.
type Survey struct {
	Ledger  *Ledger // to read from; with a Refusal not for edits
	Refusal error   // why Open refuses the ledger; nil: it does not
	Network string  // as FS.Network
	Files   []Found
	Above   []Found // the directories that lead to the ledger, from the nearest up
	Errors  []error // of what could not be looked at

	there map[string]bool // the operations; nil: they could not be listed
}

// Kind is what a file of a ledger is.
type Kind int

// The kinds of files.
const (
	Stranger         Kind = iota // nothing of DPL's
	Directory                    // of the ledger's own
	Marker                       // ledger.json
	OperationFile                //
	ArchivedFile                 // a copy of an operation
	SupervisorsFile              // of a group
	OrchestratorFile             // of a group
	AlertsFile                   // of a group
	ArchivedRegistry             // a copy of a group's supervisors file
	VersionFile                  // of a ledger that commits by link, or what belongs to one
	LockFile                     // of an operation or group
	TempFile                     // of an edit
	TrashFile                    // what is being deleted, or a note of it
	TmpDirectory                 // of an operation
	ScratchDirectory             // of somebody who tries what the file system does
)

// Found is one file or directory.
type Found struct {
	Path     string // absolute
	Kind     Kind
	ID       string // of the operation or group; "" where there is none
	Info     disk.Info
	Distrust error // why commands refuse it, ErrPermission; nil: they do not
	Orphaned bool  // nothing that exists needs it: if no edit is in progress, Sweep would remove it
}

// note keeps err, and reports whether there is none.
func (s *Survey) note(err error) bool {
	if err != nil {
		s.Errors = append(s.Errors, err)
	}
	return err == nil
}

// Name returns how a file is called within the ledger.
func (s *Survey) Name(f Found) string {
	name, err := filepath.Rel(s.Ledger.dir, f.Path)
	if err != nil {
		return f.Path
	}
	return filepath.ToSlash(name)
}

// add notes the file at path, unless it is gone.
func (s *Survey) add(f Found) error {
	l := s.Ledger
	var err error
	if f.Info, err = l.fs.Lstat(f.Path); err != nil {
		return ignoreMissing(err)
	}
	if f.Orphaned && f.Kind == LockFile && filepath.Dir(f.Path) == l.dir && f.Info.Size > 0 {
		f.Kind, f.Orphaned = Stranger, false // many programs use such names, and none of ours writes to it
	}
	switch f.Kind {
	case Stranger, TrashFile, TmpDirectory, ScratchDirectory: // it was somebody else's, or is
	case Directory:
		f.Distrust = l.trustDir(f.Path, f.Info)
	default:
		f.Distrust = l.trustFile(f.Path, f.Info)
	}
	s.Files = append(s.Files, f)
	return nil
}

// above notes the directories that lead to the ledger, whatever symbolic links do.
func (s *Survey) above() error {
	l := s.Ledger
	dir, err := l.fs.Resolve(l.dir)
	if err != nil {
		return err
	}
	info, err := l.fs.Stat(dir)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, Found{Path: l.dir, Kind: Directory, Info: info, Distrust: l.trustDir(l.dir, info)})
	for filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		if info, err = l.fs.Stat(dir); err != nil {
			return err
		}
		s.Above = append(s.Above, Found{Path: dir, Kind: Directory, Info: info})
	}
	return nil
}

// Tighten takes from others the right to write to a file or directory that belongs to this user. It returns ErrPermission if f
// is not this user's, and an error if there is another file by now.
func (s *Survey) Tighten(f Found) error {
	l := s.Ledger
	return l.withFile(f.Path, func(file disk.File) error {
		info, err := file.Stat()
		switch {
		case err != nil:
			return err
		case info.ID != f.Info.ID:
			return fmt.Errorf("%s: %w: it is another file by now", f.Path, fs.ErrExist)
		case info.UID != l.euid:
			return fmt.Errorf("%s: %w: it belongs to %s", f.Path, ErrPermission, userName(info.UID))
		}
		return file.Chmod(info.Mode &^ l.others())
	})
}

// others is who may not write to the files of the ledger.
func (l *Ledger) others() fs.FileMode {
	if l.config.Shared {
		return 0o002
	}
	return 0o022
}

// Ours reports whether Tighten can cure what commands refuse f for.
func (s *Survey) Ours(f Found) bool {
	l := s.Ledger
	link := f.Info.Mode&fs.ModeSymlink != 0
	return f.Distrust != nil && !link && f.Info.UID == l.euid && f.Info.Mode&l.others() != 0
}
