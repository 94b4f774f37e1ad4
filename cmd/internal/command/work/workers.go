package work

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/fileops"
)

// workers do the tasks of a queue, several at a time. Each attempt is a process of its own, which
// claims and settles: dpl-work --once. So an attempt ends well even if this process is killed.
type workers struct {
	env      *cli.Env
	flags    *work
	ledger   *fileops.Ledger
	follow   *follow.Queue
	signals  chan os.Signal
	ended    chan *worker
	progress *progress
	alerts   *alerts

	busy     []*worker
	told     syscall.Signal // the signal by which this process was asked to end
	next     bool           // the last worker has done a task, so there may be another one
	did      bool           // a task was claimed and begun
	rest     time.Time      // no worker is started before that, because one has failed
	locked   bool           // the last worker could not edit the queue in time
	failures int            // of workers, in a row
	why      string         // the last one
}

// A worker does one task.
type worker struct {
	slot int
	*exec.Cmd
	told <-chan []byte // the line of its --status-fd, or nothing
}

// mostFailures is how many workers may fail in a row.
const mostFailures = 5

// warn prints a warning where the progress was.
func (w *workers) warn(err error) {
	w.progress.erase()
	w.env.Warnf("%v", err)
}

// send sends sig to all workers.
func (w *workers) send(sig syscall.Signal) {
	for _, b := range w.busy {
		if err := b.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.warn(err)
		}
	}
}
