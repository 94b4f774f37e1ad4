package follow

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Life is that of the process or call for which a command waits: once it has ended, nobody needs
// what the command waits for. It is judged as a claimer is: by its process, or where that cannot be
// checked, by its call. A nil Life never ends.
type Life struct {
	who    queue.Claimer
	ledger *fileops.Ledger  // where its call is; nil: not known yet
	handle *process.Watched // of a process of which only the number is known; nil: none
	over   bool             // that process had ended before there was a handle
}

// NewLife returns the Life of the process or call of who, or nil if it has neither. The caller must
// close it.
func NewLife(who queue.Claimer) *Life {
	if who.PID == 0 && who.Call == "" {
		return nil
	}

	l := &Life{who: who}
	if who.PID != 0 && !who.Process.Known() {
		handle, err := process.Watch(who.PID)
		l.over = err == process.ErrNoProcess
		if err == nil { // otherwise its end cannot be seen from here
			l.handle = handle
		}
	}
	return l
}

// Close ends the watching.
func (l *Life) Close() {
	if l != nil && l.handle != nil {
		l.handle.Close()
	}
}

// In says in which ledger the call is.
func (l *Life) In(ledger *fileops.Ledger) {
	if l != nil {
		l.ledger = ledger
	}
}

// Err returns queue.ErrGone, with the name of what has ended, if it has, and otherwise nil.
func (l *Life) Err(seen observe.Observation) error {
	switch {
	case l == nil:
		return nil
	case l.exited():
		return fmt.Errorf("process %d %w", l.who.PID, queue.ErrGone)
	}
	return l.who.Gone(l.see(seen))
}

func (l *Life) see(seen observe.Observation) queue.Seen {
	if l.ledger == nil {
		return queue.Seen{Observation: seen}
	}
	return l.ledger.SeeQueue("", seen)
}

// exited reports whether a process has exited that only the handle tells from others.
func (l *Life) exited() bool {
	select {
	case <-l.Done():
		return true
	default:
		return l.over
	}
}

// Done returns a channel that is closed when a process ends of which only the number is known; nil
// for others.
func (l *Life) Done() <-chan struct{} {
	if l == nil || l.handle == nil {
		return nil
	}
	return l.handle.Done()
}

// Operations returns the operations whose changes may end l.
func (l *Life) Operations() []string {
	if l == nil || l.who.Call == "" {
		return nil
	}
	return []string{l.who.Operation}
}

// Watch returns the processes whose ends may end l, and how long to wait at most before the next
// look: not long if only missing heartbeats can tell of the end of the call.
func (l *Life) Watch(seen observe.Observation) (all []observe.Process, most time.Duration) {
	switch {
	case l == nil:
		return nil, time.Hour
	case !l.who.ByCall(seen):
		return []observe.Process{observe.Identity(l.who.PID, l.who.Process)}, longestWait
	case l.ledger == nil:
		return nil, callEvery
	}

	op, _, err := l.ledger.ReadOperation(l.who.Operation)
	frame := op.Frame(l.who.Call)
	if err != nil || frame == nil || !seen.Checks(frame.Vitals) || frame.Heartbeats {
		return nil, callEvery
	}
	return []observe.Process{frame.Identity()}, longestWait
}

// LookAfter has this host remember what it sees of the call, as Ledger.LookAfter does for the calls
// of claims.
func (l *Life) LookAfter(by string) {
	if l != nil && l.who.Call != "" && l.ledger != nil {
		l.ledger.LookAfterCall(l.who.Operation, by)
	}
}
