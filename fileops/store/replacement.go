package store

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Replacement is a file in an edit, together with the temporary file that will become its next
// version.
type Replacement struct {
	File
	Base State // what the next version follows

	store Store
	files
	temp string    // path of the temporary file, or "" if there is none
	open disk.File // the temporary file until it is written; then nil
}

// Contents is the new content of a file, with its revision. Check returns an error for one of that
// size, of which text is a sample (see wire.Sampler), that readers or a limit would refuse.
type Contents struct {
	io.WriterTo
	Revision int64
	Check    func(size int64, text string) error
}

// Create creates the temporary file. Even if it returns an error, there may be a file to remove:
// the error may have come after the file.
func (r *Replacement) Create() (err error) {
	r.temp = layout.TempOf(r.Path)
	r.open, err = r.fs.CreateFile(r.temp)
	return err
}

// Write writes next to the temporary file, and closes it.
func (r *Replacement) Write(next Contents) error {
	if r.open == nil {
		r.Remove()
		if err := r.Create(); err != nil {
			return err
		}
	}

	open := r.open
	r.open = nil

	out := contentWriter{File: open}
	size, err := next.WriteTo(&out)
	if err == nil {
		err = next.Check(size, trust.AsString(out.sample))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Path, err)
	}
	if err == nil {
		err = r.fs.SyncFile(open)
	}
	if closeErr := open.Close(); err == nil {
		err = closeErr
	}

	return err
}

// A contentWriter is a file to be written. Go would make the methods of an io.Writer for the type
// of the file at run time, which takes as long as writing a small one.
type contentWriter struct {
	disk.File
	sample []byte
}

func (w *contentWriter) WriteString(s string) (int, error) { return io.WriteString(w.File, s) }

// Sample makes a contentWriter a wire.Sampler.
func (w *contentWriter) Sample(text []byte) { w.sample = append(w.sample, text...) }

// Lend gives to, which has no temporary file yet, the one of r unless that was written.
func (r *Replacement) Lend(to *Replacement) {
	if r != to && r.open != nil && to.temp == "" {
		to.temp, to.open = r.temp, r.open
		r.temp, r.open = "", nil
	}
}

// Read reads the current state as the Base: the zero State if there is none. With Link it repairs
// what killed edits have left. young is the edit that has just created a temporary file.
func (r *Replacement) Read(young *Replacement) (err error) {
	r.Base, err = r.store.base(r.File, young.temp)
	return err
}

// Commit makes the written version visible. Then it is the Base of the next one. It returns
// ErrLost, and changes nothing, if another edit came first.
func (r *Replacement) Commit(next Contents) (Outcome, error) { return r.store.commit(r, next) }

// Archive gives the file, as it is in Base, the first free name in the archive.
func (r *Replacement) Archive() (Outcome, error) { return r.store.archive(r.File, r.Base) }

// Remove removes the temporary file unless it has become the file.
func (r *Replacement) Remove() {
	if r.open != nil {
		r.open.Close()
		r.open = nil
	}
	if r.temp != "" {
		r.leftover(r.fs.RemoveIfThere(r.temp))
		r.temp = ""
	}
}

// CopyTo adds a copy of the file to copies, and leaves the file unchanged. It does nothing if there
// is no file. If it returns nil, the copy survives a power cut, unless trust.FS.Sync asks for less.
func (r *Replacement) CopyTo(copies layout.Copies) error {
	now, err := r.store.Read(r.File)
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	if err := r.fs.EnsureDir(copies.Dir()); err != nil {
		return err
	}

	n, err := next(r.fs, copies)
	if err != nil {
		return err
	}

	temp := layout.TempOf(r.Path)
	if err := r.fs.WriteNew(temp, now.Data, true); err != nil {
		return err
	}
	if err := moveTo(r.fs, copies, n, temp); err != nil {
		return errors.Join(err, r.fs.RemoveIfThere(temp))
	}
	return r.fs.SyncDir(copies.Dir())
}

// Prune removes what a file that is over, and is not in this edit, has left long ago: its versions,
// and what hosts remember about it. With Rename there is nothing. young is as for Read.
func (r *Replacement) Prune(young *Replacement) error { return r.store.prune(r.File, young.temp) }

// Now returns the time by the clock of the file system, which shows in the temporary file that was
// just created.
func (r *Replacement) Now() (time.Time, error) {
	young, err := r.fs.Lstat(r.temp)
	return young.ModTime, err
}
