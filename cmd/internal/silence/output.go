package silence

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// ErrNotRegular means that a file shows no growth: it is a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// An Output is the regular files that a command writes to. They are only looked at, so one that
// writes a lot costs no more than one that writes nothing.
type Output struct {
	looks []func() (fs.FileInfo, error)

	mu    sync.Mutex
	last  []fs.FileInfo // as last found; nil: not there yet
	grown bool
}

// Add adds what is found by look. It adds nothing, and returns ErrNotRegular if that is there and
// no regular file, or an error if it cannot be looked at.
func (o *Output) Add(look func() (fs.FileInfo, error)) error {
	info, err := look()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}

	o.looks, o.last = append(o.looks, look), append(o.last, info)
	return nil
}

// AddPath adds the file at path, which need not exist yet. It follows symbolic links.
func (o *Output) AddPath(path string) error {
	return o.Add(func() (fs.FileInfo, error) { return os.Stat(path) })
}

// Empty reports whether nothing was added.
func (o *Output) Empty() bool { return len(o.looks) == 0 }

// Grown reports whether there was output since it was last called: a file has another size, another
// time of its last change, or is another file than before, as after a rotation, or has appeared. A
// file that is missing, or cannot be looked at, says nothing.
func (o *Output) Grown() bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.look()
	grown := o.grown
	o.grown = false
	return grown
}

func (o *Output) look() {
	for i, look := range o.looks {
		info, err := look()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		o.grown = o.grown || changed(o.last[i], info)
		o.last[i] = info
	}
}

func changed(before, after fs.FileInfo) bool {
	return before == nil || before.Size() != after.Size() ||
		!before.ModTime().Equal(after.ModTime()) || !os.SameFile(before, after)
}

// Cut calls cut, which reports whether it has freed blocks of the files. That is no output, and what
// the command writes meanwhile is: only the size tells the two apart.
func (o *Output) Cut(cut func() (bool, error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.look()
	done, err := cut()
	if !done {
		return err
	}
	for i, look := range o.looks {
		info, lookErr := look()
		if before := o.last[i]; lookErr == nil && before != nil && os.SameFile(before, info) &&
			before.Size() == info.Size() {
			o.last[i] = info
		}
	}
	return err
}

// Besides returns a writer to w whose writes are no output of the command, even if w is one of its
// files.
func (o *Output) Besides(w io.Writer) io.Writer { return besides{o, w} }

type besides struct {
	*Output
	to io.Writer
}

func (b besides) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.look()
	grown := b.grown
	n, err := b.to.Write(text)
	b.look()
	b.grown = grown
	return n, err
}
