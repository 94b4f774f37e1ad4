// Package messages writes to descriptors that other processes read, and waits for none of these: a
// program that supervises others must go on when no process reads what it says. See [Writer].
package messages

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	most     = 64 << 10               // bytes that may wait
	piece    = 4 << 10                // a pipe takes this much whole or not at all
	patience = 100 * time.Millisecond // to wait for a reader that makes no progress
	longest  = 10 * time.Second       // to wait for one that does
)

// Whole is the length up to which a message to a pipe is written whole or not at all.
const Whole = piece

// ErrUnread means that a message was not written, because no process reads it.
var ErrUnread = errors.New("it is not read")

// A Writer writes messages to a file, in order, beside what its callers do. Its methods may be
// called concurrently.
type Writer struct {
	lost func(n int) string // the message that n messages are lost

	mu      sync.Mutex
	file    *os.File
	to      io.Writer // file, or what Through has put in front of it
	waiting [][]byte
	size    int           // of waiting
	dropped int           // messages that did not fit
	written int           // pieces, ever
	busy    chan struct{} // closed when nothing waits any more; nil: nothing does
	stuck   bool          // Settle has waited in vain since the last piece
	err     error         // the first one
}

// New returns a Writer to file. If n messages were lost, lost(n) follows the last of the others.
func New(file *os.File, lost func(n int) string) *Writer {
	return &Writer{file: file, to: file, lost: lost}
}

// Write takes message, and returns without an error before it is written. It drops a message that
// does not fit, as a whole: while others wait, 64 KiB do.
func (w *Writer) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(message) == 0 {
		return 0, nil
	}
	if w.size > 0 && w.size+len(message) > most {
		w.dropped++
		w.fail(ErrUnread)
		return len(message), nil
	}
	w.add(message)
	if w.busy == nil {
		w.busy = make(chan struct{})
		go w.drain()
	}
	return len(message), nil
}

func (w *Writer) add(message []byte) {
	w.waiting = append(w.waiting, append([]byte(nil), message...))
	w.size += len(message)
}

// drain writes what waits. It ends when nothing does.
func (w *Writer) drain() {
	for {
		next, to := w.next()
		if next == nil {
			return
		}
		for n := 0; n < len(next); {
			written, err := to.Write(next[n:])
			n += written
			switch {
			case errors.Is(err, syscall.EAGAIN): // others have made the file non-blocking
				time.Sleep(patience / 10)
			case err != nil:
				w.mu.Lock()
				w.fail(err)
				w.mu.Unlock()
				n = len(next)
			}
		}
	}
}

// fail notes err. The caller holds mu.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// next returns the next piece of what waits, at most one message, and where it goes. The last piece
// is written then. It returns nil if nothing waits.
func (w *Writer) next() (text []byte, to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.written++
	w.stuck = false
	if len(w.waiting) == 0 && w.dropped > 0 {
		w.add([]byte(w.lost(w.dropped)))
		w.dropped = 0
	}
	if len(w.waiting) == 0 {
		close(w.busy)
		w.busy = nil
		return nil, nil
	}

	text = w.waiting[0]
	text = text[:min(len(text), piece)]
	if w.waiting[0] = w.waiting[0][len(text):]; len(w.waiting[0]) == 0 {
		w.waiting = w.waiting[1:]
	}
	w.size -= len(text)
	return text, w.to
}

// Flush waits until all is written: for up to 10 s while bytes get through, but not when none do
// for 100 ms and the file has no room. It is for the end of a process. It returns ErrUnread if a message is lost or still
// waits, or the first error of a write.
func (w *Writer) Flush() error {
	if !w.wait(longest) {
		return ErrUnread
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Settle waits for 100 ms at most, so that what is written elsewhere comes after the messages so
// far. It does not wait again for a reader that makes no progress.
func (w *Writer) Settle() {
	w.mu.Lock()
	stuck := w.stuck
	w.mu.Unlock()
	if stuck || w.wait(patience) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stuck = w.busy != nil
}

// wait reports whether all is written.
func (w *Writer) wait(limit time.Duration) bool {
	for end := time.Now().Add(limit); ; {
		busy, before := w.progress()
		if busy == nil {
			return true
		}
		select {
		case <-busy:
			return true
		case <-time.After(patience):
		}
		// With room, the write only waits for a processor or a disk.
		if _, now := w.progress(); now == before && !w.room() || !time.Now().Before(end) {
			return false
		}
	}
}

// A progress changes when bytes get through.
type progress struct{ written, unread int }

// progress returns what is closed when all is written, or nil, and how far that is.
func (w *Writer) progress() (busy <-chan struct{}, p progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy == nil {
		return nil, p
	}
	return w.busy, progress{w.written, unread(w.file)}
}

// room reports whether the file takes something now.
func (w *Writer) room() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return hasRoom(w.file)
}

// Through makes all later writes to the file go through wrap(file).
func (w *Writer) Through(wrap func(io.Writer) io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = wrap(w.file)
}

// MoveTo makes file, which is the same file under another number, the one to write to.
func (w *Writer) MoveTo(file *os.File) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file, w.to = file, file
}

// ForChild returns what to give a child process as its output in the place of to: the file itself
// if to is a Writer that could write to it now; otherwise to, which os/exec copies to by a pipe. So
// the child waits for no reader either.
func ForChild(to io.Writer) io.Writer {
	w, is := to.(*Writer)
	if !is {
		return to
	}
	w.Settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy == nil && w.to == io.Writer(w.file) && hasRoom(w.file) {
		return w.file
	}
	return w
}
