package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Read returns the content of the file p, or of standard input if p is -. It returns
// wire.ErrCorrupt if that has more than most bytes, a number of MiB.
func (p Path) Read(most int64) (string, error) {
	var data []byte
	var err error
	if p == "-" {
		data, err = readMost(os.Stdin.Read, most)
	} else {
		data, err = readPath(string(p), most)
	}
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: it is larger than %d MiB", wire.ErrCorrupt, most>>20)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name(), err)
	}
	return trust.AsString(data), nil
}

// readPath reads a file without package os, whose poller costs more than reading a small one.
func readPath(path string, most int64) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	for err == syscall.EINTR {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)

	return readMost(func(p []byte) (int, error) {
		n, err := syscall.Read(fd, p)
		for err == syscall.EINTR {
			n, err = syscall.Read(fd, p)
		}
		if n == 0 && err == nil {
			err = io.EOF
		}
		return max(n, 0), err
	}, most)
}

// readMost reads until the end, or one byte more than most.
func readMost(read func([]byte) (int, error), most int64) ([]byte, error) {
	data := make([]byte, 0, 8<<10)
	for int64(len(data)) <= most {
		data = slices.Grow(data, 1)
		n, err := read(data[len(data):min(int64(cap(data)), most+1)])
		data = data[:len(data)+n]
		if err == io.EOF {
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
