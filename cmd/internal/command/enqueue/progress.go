package enqueue

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/statusline"
	"github.com/dpl-project/dpl/fileops/trust"
)

// counting is a reader that counts the lines that were read.
type counting struct {
	io.Reader
	lines atomic.Int64
}

func (c *counting) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.lines.Add(int64(bytes.Count(p[:n], []byte("\n"))))
	return n, err
}

// readAll reads all tasks. On a terminal it says how far it is, since whoever makes them may take
// long, and none is added before all are there.
func (c *enqueue) readAll(from io.Reader, stderr io.Writer) ([]byte, error) {
	count := &counting{Reader: io.LimitReader(from, trust.MaxFile+1)}
	line := statusline.New(stderr)
	if line == nil || c.Verbose {
		return io.ReadAll(count)
	}

	read, erased := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(erased)
		defer line.Erase()
		for clock := time.Tick(statusline.Every); ; {
			select {
			case <-clock:
				line.Draw(fmt.Sprintf("%s: lines read: %d", c.Queue, count.lines.Load()))
			case <-read:
				return
			}
		}
	}()

	data, err := io.ReadAll(count)
	close(read)
	<-erased
	return data, err
}
