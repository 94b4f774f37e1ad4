package follow

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// An Ending tells when a signal has asked this process to end.
type Ending struct {
	done   chan struct{}
	number atomic.Int32
}

// CatchEnding begins to catch the signals that ask this process to end, and that it does not ignore.
// Before, they end it.
func CatchEnding() *Ending {
	signals := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}

	e := &Ending{done: make(chan struct{})}
	go func() {
		number, _ := (<-signals).(syscall.Signal)
		e.number.Store(int32(number))
		close(e.done)
	}()
	return e
}

// Done returns a channel that is closed by the first signal.
func (e *Ending) Done() <-chan struct{} { return e.done }

// Status returns 128 + N after signal N, and 0 before.
func (e *Ending) Status() int {
	select {
	case <-e.done:
		return 128 + int(e.number.Load())
	default:
		return 0
	}
}
