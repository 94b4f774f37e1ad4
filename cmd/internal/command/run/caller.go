package run

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// fails reports whether the end e of the command fails the operation. With --caller-decides the
// caller judges a failure, unless a signal that was meant to end the work has killed the command or
// its last process, which a shell reports as 128+N (spec §15.9).
func (c *call) fails(e end) bool {
	switch {
	case e.failure == "" || c.push.Contained:
		return false
	case !c.judged:
		return true
	case e.stopped != 0:
		return false // by dpl-run itself, such as for a time limit
	}

	switch syscall.Signal(e.exit() - 128) {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGTERM:
		return true
	}
	return false
}

// awaitCaller is for a call that was refused with err. If the operation is no longer running, it
// returns when the caller stops its command, because otherwise make -k would start the next recipe.
// It also returns at a signal, and after lateTerm.
func (c *call) awaitCaller(err error, signals <-chan os.Signal) {
	if !c.flags.CallerDecides || !errors.Is(err, protocol.ErrNotRunning) {
		return
	}

	for late := time.After(lateTerm); ; {
		op, _, err := c.ledger.ReadOperation(c.op)
		f := op.Frame(c.push.Caller)
		if err != nil || f == nil || !f.State.Live() || f.State == protocol.FrameCleaningUp {
			return
		}

		select {
		case <-signals:
			return
		case <-late:
			return
		case <-time.After(holdPause):
		}
	}
}
