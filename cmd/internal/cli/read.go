package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Read returns the content of the file p, or of standard input if p is -. It returns
// wire.ErrCorrupt if that has more than most bytes, a number of MiB.
func (p Path) Read(most int64) (string, error) {
	from := os.Stdin
	if p != "-" {
		f, err := open(string(p))
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}

	data, err := readMost(from, most)
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: it is larger than %d MiB", wire.ErrCorrupt, most>>20)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name(), err)
	}
	return trust.AsString(data), nil
}

// open is os.Open without the poller, which costs more than reading a small file.
func open(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// readMost reads f, up to one byte more than most.
func readMost(f *os.File, most int64) ([]byte, error) {
	size := int64(511)
	info, err := f.Stat()
	regular := err == nil && info.Mode().IsRegular()
	if regular {
		size = min(info.Size(), most)
	}

	data := make([]byte, 0, size+1)
	for int64(len(data)) <= most {
		data = slices.Grow(data, 1)
		n, err := f.Read(data[len(data):min(int64(cap(data)), most+1)])
		data = data[:len(data)+n]
		if err == io.EOF || err == nil && regular && int64(len(data)) == info.Size() {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Name returns what p is called in a message.
func (p Path) Name() string {
	if p == "-" {
		return "standard input"
	}
	return string(p)
}
