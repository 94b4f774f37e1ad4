package fileops

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A replacement is a file in an edit, together with the temporary file that will become its next
// version.
type replacement struct {
	file
	base state     // what the next version follows
	temp string    // path of the temporary file, or "" if there is none
	open disk.File // the temporary file until it is written; then nil
}

// A contents is the new content of a file, with its revision. check returns an error for one of that
// size, of which text is a sample (see wire.Sampler), that readers or a limit would refuse.
type contents struct {
	io.WriterTo
	revision int64
	check    func(size int64, text string) error
}

// An outcome says whether others see an edit. It is independent of the error returned with it.
type outcome int

const (
	notMade   outcome = iota
	mayBeMade         // it cannot be known
	isMade
)

// create creates the temporary file. Even if it returns an error, there may be a file to remove:
// the error may have come after the file.
func (r *replacement) create() (err error) {
	r.temp = layout.TempOf(r.path)
	r.open, err = r.ledger.fs.CreateFile(r.temp)
	return err
}

// write writes next to the temporary file, and closes it.
func (r *replacement) write(next contents) error {
	if r.open == nil {
		r.remove()
		if err := r.create(); err != nil {
			return err
		}
	}

	open := r.open
	r.open = nil

	out := contentWriter{File: open}
	size, err := next.WriteTo(&out)
	if err == nil {
		err = next.check(size, trust.AsString(out.sample))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.path, err)
	}
	if err == nil {
		err = r.ledger.fs.SyncFile(open)
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

// made makes the next commit follow the one that made version n.
func (r *replacement) made(n int64) (err error) {
	r.base = state{exists: true, version: n}
	if r.ledger.linked() {
		r.base.info, err = r.ledger.fs.Lstat(r.version(n))
	}
	return err
}

// rename renames the temporary file over the file.
func (r *replacement) rename(next io.WriterTo) (made outcome, err error) {
	made = isMade
	if err = r.ledger.fs.Replace(r.temp, r.path); err != nil {
		renamed, lookErr := r.renamed(next)
		made, err = outcomeAfterError(renamed, err, lookErr)
	}

	if made == isMade {
		r.temp = ""
	}
	return made, err
}

// renamed reports whether the temporary file has become the file.
func (r *replacement) renamed(next io.WriterTo) (bool, error) {
	if there, err := r.ledger.fs.LookFor(r.temp); there || err != nil {
		return false, err
	}
	var want bytes.Buffer
	next.WriteTo(&want)
	data, _, err := r.ledger.fs.ReadFile(r.path)
	return err == nil && bytes.Equal(data, want.Bytes()), trust.IgnoreMissing(err)
}

// outcomeAfterError returns the outcome of a call that failed with err. made says whether a look
// found it done anyway, because over a network the answer can be lost; lookErr is the error of that
// look.
func outcomeAfterError(made bool, err, lookErr error) (outcome, error) {
	switch {
	case lookErr != nil:
		return mayBeMade, fmt.Errorf("%w; then %w", err, lookErr)
	case made:
		return isMade, err
	}
	return notMade, err
}

// remove removes the temporary file unless it has become the file.
func (r *replacement) remove() {
	if r.open != nil {
		r.open.Close()
		r.open = nil
	}
	if r.temp != "" {
		r.ledger.recordLeftover(r.ledger.fs.RemoveIfThere(r.temp))
		r.temp = ""
	}
}
