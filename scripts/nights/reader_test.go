//go:build linux

package nights

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A reader looks at a published file all the time. Whenever it is another one, or has changed, it
// must be absent or a whole dump.
type reader struct {
	path string
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	seen   published
	whole  int      // dumps that were whole
	broken []string // what was wrong with the others
}

// published identifies a published file and its content. That of a missing one is zero.
type published struct {
	inode       uint64
	size        int64
	modified    syscall.Timespec
	isPublished bool
}

func startReader(path string) *reader {
	r := &reader{path: path, stop: make(chan struct{})}
	r.done.Go(func() {
		for {
			select {
			case <-r.stop:
				return
			case <-time.After(2 * time.Millisecond):
				r.look()
			}
		}
	})
	return r
}

func (r *reader) close() {
	close(r.stop)
	r.done.Wait()
}

// look reads the file if it is not the one that was seen last, and returns which one it is.
func (r *reader) look() published {
	r.mu.Lock()
	defer r.mu.Unlock()

	file, err := os.Open(r.path)
	if err != nil {
		r.seen = published{}
		return r.seen
	}
	defer file.Close()

	var s syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &s); err != nil {
		r.broken = append(r.broken, err.Error())
		return r.seen
	}

	now := published{s.Ino, s.Size, s.Mtim, true}
	if now == r.seen {
		return now
	}

	r.seen = now
	if err := wholeDump(file); err != nil {
		r.broken = append(r.broken, fmt.Sprintf("%d bytes: %v", s.Size, err))
	} else {
		r.whole++
	}
	return now
}

// wholeDump returns nil if file is a compressed dump with all rows and its last line.
func wholeDump(file *os.File) error {
	unpacked, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("gzip: %w", err)
	}

	var text bytes.Buffer
	if _, err := text.ReadFrom(unpacked); err != nil {
		return fmt.Errorf("gzip: %w", err)
	}

	_, table, _ := strings.Cut(text.String(), "\nCOPY public.customers ")
	table, _, _ = strings.Cut(table, "\n\\.\n")
	if n := strings.Count(table, "\n"); n != rows {
		return fmt.Errorf("it has %d rows, want %d", n, rows)
	}
	if !strings.Contains(text.String(), "\n-- PostgreSQL database dump complete\n") {
		return fmt.Errorf("the last line of the dump is missing")
	}
	return nil
}
