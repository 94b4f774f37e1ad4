package fileops

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A NewFile is a file that a publication without From gives its name (spec §15.10). Where the file
// system has files without a name, it has none until then, and is gone with the process. Elsewhere
// its name is beside the later one, and locked.
type NewFile struct {
	ledger *Ledger
	path   string      // the later name
	mode   fs.FileMode // for a new name; 0: that of its creation
	keep   bool        // a file that has the later name passes its mode on
	file   disk.File
	beside *beside // its name until it has the later one; nil: it has none
	placed bool    // it has had the later name
}

// CheckNewFile returns ErrPublish, with a cure, if no file could be published as path: if there is
// something other than a regular file, if that has several names, or is a mount point, or if the
// ledger commits by link. It does not look whether the directory exists.
func (l *Ledger) CheckNewFile(path string) error {
	if l.store.Leased() {
		return linkedLedger()
	}

	info, err := l.fs.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Unpublishable("%w", cause(err))
	case info.Mode.IsDir():
		return Unpublishable("it is a directory: name a file in it")
	case !info.Mode.IsRegular():
		return Unpublishable("it is a device, pipe or socket: redirect stdout to it")
	case info.Links > 1:
		return Unpublishable("it has %d hard links, and only this one would change: remove the "+
			"others, or name another file", info.Links)
	}

	mounted, err := l.fs.MountPoint(path)
	if mounted {
		err = Unpublishable("it is a mount point, which no file can replace: mount its directory " +
			"instead, or name a file in another one")
	}
	return err
}

// NewFile opens a new file that will be published as path, with the mode of a file that has that
// name then, or else with mode, less the umask. It first removes new files for path that killed
// processes have left. Its errors are those of CheckNewFile, and ErrPublish if there is no such
// directory or nothing can be created in it. Another NewFile for path takes the place of this one.
func (l *Ledger) NewFile(path string, mode fs.FileMode) (*NewFile, error) {
	if err := l.CheckNewFile(path); err != nil {
		return nil, err
	}
	l.sweepBeside(path)

	const ours = 0o600 // else it could not be locked
	f := &NewFile{ledger: l, path: path, keep: true}
	if mode&ours != ours {
		f.mode = mode
	}

	dir := filepath.Dir(path)
	var err error
	f.file, err = l.fs.CreateUnnamed(dir, mode|ours)
	if errors.Is(err, errors.ErrUnsupported) {
		f.beside, err = l.newBeside(path, func(path string) (err error) {
			f.file, err = l.fs.Create(path, mode|ours)
			return err
		})
	}
	switch {
	case errors.Is(err, ErrPublish):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, Unpublishable("there is no directory %q: create it first", dir)
	case err != nil:
		return nil, Unpublishable("no file can be created in %q: %w", dir, cause(err))
	}

	if l.newFiles == nil {
		l.newFiles = make(map[string]*NewFile)
	}
	l.newFiles[path] = f
	return f, nil
}

// TryNewFile returns the error that NewFile would return for path, and leaves nothing there.
func (l *Ledger) TryNewFile(path string) error {
	f, err := l.NewFile(path, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// cause returns err without the call and the path that failed.
func cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// Fd returns the descriptor of the file, for a program that writes it.
func (f *NewFile) Fd() uintptr { return f.file.(interface{ Fd() uintptr }).Fd() }

// Close closes the file, and removes it unless it was published.
func (f *NewFile) Close() error {
	if f.ledger.newFiles[f.path] == f {
		delete(f.ledger.newFiles, f.path)
	}
	return errors.Join(f.beside.remove(), f.file.Close())
}

// linkBeside is Ledger.linkBeside for a new file. to describes the file with the later name, if
// there is one.
func (f *NewFile) linkBeside(to disk.Info, there bool) (_ *beside, err error) {
	if f.placed {
		return nil, nil
	}
	if f.beside == nil {
		if f.beside, err = f.ledger.newBeside(f.path, f.file.Link); err != nil {
			return nil, err
		}
	}

	mode := f.mode
	if there && f.keep && to.Mode.IsRegular() {
		mode = to.Mode.Perm()
	}
	if mode != 0 {
		err = f.file.Chmod(mode)
	}
	if err == nil {
		err = f.ledger.fs.SyncFile(f.file)
	}
	return f.beside, err
}

// CopyElsewhere returns p, or if its file is on another file system than p.To, a publication of a
// copy of it, with its mode. Whether that is so, only a link shows. The caller closes the copy,
// which may be nil. What cannot be published for another reason is left to the edit.
func (l *Ledger) CopyElsewhere(p observe.Publication) (_ observe.Publication, _ *NewFile, err error) {
	info, err := l.fs.Lstat(p.From)
	if err != nil || !info.Mode.IsRegular() {
		return p, nil, nil
	}

	probe, err := l.newBeside(p.To, func(path string) error { return l.fs.Link(p.From, path) })
	if err == nil {
		return p, nil, publishing(p, probe.remove())
	}

	f, err := l.NewFile(p.To, info.Mode.Perm())
	if err != nil {
		return p, nil, publishing(p, err)
	}
	f.keep, f.mode = false, info.Mode.Perm()
	err = l.fs.WithFile(p.From, func(from disk.File) error {
		_, err := io.CopyBuffer(onlyWriter{f.file}, onlyReader{from}, make([]byte, 1<<20))
		return err
	})
	if err != nil {
		return p, nil, publishing(p, errors.Join(err, f.Close()))
	}
	return observe.Publication{To: p.To}, f, nil
}

// onlyWriter and onlyReader keep io.Copy from other methods, which would pass the buffer by.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
