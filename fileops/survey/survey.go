// Package survey lists everything in a ledger directory, and tests its file system.
package survey

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Survey is everything found in a ledger without a lock, whether or not commands would use the
// ledger. Files that were gone before they could be examined are left out.
type Survey struct {
	Ledger  *fileops.Ledger // for reading; with a Refusal, not for edits
	Refusal error           // why Open refuses the ledger; nil if it does not
	Network string          // from FS.Network
	Files   []Found
	Above   []Found // the directories that lead to the ledger, nearest first
	Errors  []error // of files that could not be examined

	files *trust.FS
	there map[string]bool // the operations; nil if they could not be listed
}

// Found is one file or directory.
type Found struct {
	Path     string // absolute
	Kind     layout.Kind
	ID       string // of the operation or group, or ""
	Info     disk.Info
	Distrust error // why commands refuse it, or cannot use it, an fs.ErrPermission; nil if they can
	Orphaned bool  // nothing that exists needs it: if no edit is in progress, Sweep would remove it
}

// note records err, and reports whether it is nil.
func (s *Survey) note(err error) bool {
	if err != nil {
		s.Errors = append(s.Errors, err)
	}
	return err == nil
}

// Name returns the name of a file relative to the ledger.
func (s *Survey) Name(f Found) string {
	name, err := filepath.Rel(s.Ledger.Dir(), f.Path)
	if err != nil {
		return f.Path
	}
	return filepath.ToSlash(name)
}

// add records the file f, unless it is gone.
func (s *Survey) add(f Found) error {
	l := s.Ledger
	var err error
	if f.Info, err = s.files.Lstat(f.Path); err != nil {
		return trust.IgnoreMissing(err)
	}
	if f.Orphaned && f.Kind == layout.LockFile && filepath.Dir(f.Path) == l.Dir() && f.Info.Size > 0 {
		// many programs use such names, and ours would not write to it
		f.Kind, f.Orphaned = layout.Stranger, false
	}

	switch f.Kind {
	case layout.Stranger, layout.TrashFile, layout.TmpDirectory, layout.ScratchDirectory:
		// it may belong to another user
	case layout.Directory:
		f.Distrust = s.files.CheckDir(f.Path, f.Info)
	default:
		f.Distrust = s.files.CheckFile(f.Path, f.Info)
	}

	if f.Distrust == nil {
		f.Distrust = s.access(f)
	}

	s.Files = append(s.Files, f)
	return nil
}

// above records the directories that lead to the ledger, with symbolic links resolved.
func (s *Survey) above() error {
	l := s.Ledger
	dir, err := s.files.Resolve(l.Dir())
	if err != nil {
		return err
	}

	info, err := s.files.Stat(dir)
	if err != nil {
		return err
	}

	ledger := Found{Path: l.Dir(), Kind: layout.Directory, Info: info,
		Distrust: s.files.CheckDir(l.Dir(), info)}
	if ledger.Distrust == nil {
		ledger.Distrust = s.access(ledger)
	}
	s.Files = append(s.Files, ledger)
	for filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		if info, err = s.files.Stat(dir); err != nil {
			return err
		}
		s.Above = append(s.Above, Found{Path: dir, Kind: layout.Directory, Info: info})
	}

	return nil
}

// Tighten removes the write permission of others from a file or directory of this user. It returns
// fs.ErrPermission if f belongs to another user, and an error if the path leads to another file by
// now.
func (s *Survey) Tighten(f Found) error {
	return s.files.WithFile(f.Path, func(file disk.File) error {
		info, err := file.Stat()
		switch {
		case err != nil:
			return err
		case info.ID != f.Info.ID:
			return fmt.Errorf("%s: %w: it is another file by now", f.Path, fs.ErrExist)
		case info.UID != s.files.UID:
			return fmt.Errorf("%s: %w: it belongs to %s", f.Path, fs.ErrPermission,
				trust.UserName(info.UID))
		}

		return file.Chmod(info.Mode &^ s.files.Others())
	})
}

// Ours reports whether Tighten can fix the reason for which commands refuse f.
func (s *Survey) Ours(f Found) bool {
	link := f.Info.Mode&fs.ModeSymlink != 0
	return f.Distrust != nil && !link && f.Info.UID == s.files.UID &&
		f.Info.Mode&s.files.Others() != 0
}
