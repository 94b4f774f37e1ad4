//go:build unix

package screen

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// modes are how a terminal treats what is typed.
type modes unix.Termios

// single makes a terminal send single keys, and returns how it was.
func single(fd int) (*modes, error) {
	t, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return nil, err
	}

	before := modes(*t)
	t.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	t.Iflag &^= unix.IXON // Ctrl-S would freeze the screen
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &before, unix.IoctlSetTermios(fd, setModes, t)
}

func (m *modes) set(fd int) {
	t := unix.Termios(*m)
	unix.IoctlSetTermios(fd, setModes, &t)
}

// listen sends what is read from fd to typed until stop is called. It reads nothing after that.
func listen(fd int, typed chan<- string) (stop func()) {
	woken, wake, err := os.Pipe()
	if err != nil {
		return func() {} // too many open files: there are no keys
	}

	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer woken.Close()
		for {
			text, ok := read(fd, int(woken.Fd()))
			if !ok {
				return
			}
			select {
			case typed <- text:
			case <-quit:
				return
			}
		}
	}()

	return func() {
		close(quit)
		wake.Close()
		const longest = time.Second // another program may have read what there was
		select {
		case <-done:
		case <-time.After(longest):
		}
	}
}

// read waits until there is something to read from fd, and reads it. It reports false if other can
// be read before, or if there will be nothing.
func read(fd, other int) (text string, ok bool) {
	var ready unix.FdSet
	for {
		ready.Zero()
		ready.Set(fd)
		ready.Set(other)
		_, err := unix.Select(max(fd, other)+1, &ready, nil, nil, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || ready.IsSet(other) {
			return "", false
		}
		break
	}

	var bytes [256]byte
	n, err := unix.Read(fd, bytes[:])
	if errors.Is(err, unix.EINTR) {
		return "", true
	}
	return string(bytes[:max(n, 0)]), err == nil && n > 0
}
