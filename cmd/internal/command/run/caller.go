package run

import (
	"errors"
	"os"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// awaitCaller is for a call that was refused with err. If the operation is no longer running, it
// returns when the caller stops its command, because otherwise make -k would start the next recipe.
// It also returns at a signal, and after lateTerm.
func (c *call) awaitCaller(err error, signals <-chan os.Signal) {
	if !c.flags.CallerDecides || !errors.Is(err, protocol.ErrNotRunning) {
		return
	}

	for late := time.After(lateTerm); ; {
		op, _, err := c.Ledger.ReadOperation(c.Op)
		f := op.Frame(c.Push.Caller)
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
