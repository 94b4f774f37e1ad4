package work

import (
	"bufio"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A report is what a worker has told about its end (spec §15.6). The zero report means that it was
// killed before that.
type report struct {
	By, TaskID, Reason string // "": none
	Exit               int64
	Unclaimed          bool
}

// readReport reads the line.
func readReport(r *wire.Reader) (t report) {
	text := func(to *string) {
		if r.AtString() {
			*to = r.String()
		} else {
			r.Value()
		}
	}
	r.Object(func(member string) {
		switch member {
		case "by":
			text(&t.By)
		case "taskId":
			text(&t.TaskID)
		case "reason":
			text(&t.Reason)
		case "exit":
			t.Exit = r.Int(0)
		case "unclaimed":
			t.Unclaimed = r.Bool()
		default:
			r.Value()
		}
	})
	return t
}

// begun reports whether the worker has begun a task, or has found that it never can.
func (r report) begun() bool { return r.TaskID != "" && !r.Unclaimed }

// nothing reports whether there was no task for the worker.
func (r report) nothing() bool {
	return r.TaskID == "" && (r.Exit == cli.StatusCleanUp || r.Exit == cli.StatusOver ||
		r.Exit == cli.StatusBusy && r.Reason == string(queue.NothingReady))
}

// locked reports whether the worker could not edit the queue in time.
func (r report) locked() bool { return r.TaskID == "" && r.Exit == cli.StatusBusy }

// startTelling starts b, with the writing end of a pipe as descriptor 3.
func (b *worker) startTelling() error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	b.ExtraFiles = []*os.File{out}
	if err := b.Start(); err != nil {
		in.Close()
		return err
	}

	told := make(chan []byte, 1)
	b.told = told
	go func() {
		defer in.Close()
		line, _ := bufio.NewReader(in).ReadBytes('\n')
		told <- line
	}()
	return nil
}

// report returns what b, which has ended, has told. If it was killed, others may still have the
// pipe.
func (b *worker) report() (r report) {
	select {
	case line := <-b.told:
		r, _ = wire.Decode(string(line), 0, readReport)
	case <-time.After(100 * time.Millisecond):
	}
	return r
}
