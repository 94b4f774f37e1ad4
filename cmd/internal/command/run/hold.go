package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

const (
	longestHold = time.Minute

	// lateTerm is how long a calling dpl-run may take to find that the operation has failed, to
	// send TERM and to record that. It looks at least every 1.5 s, but the machine may be
	// busy.
	lateTerm = 10 * time.Second

	// deadCaller is how long the keeper of a calling dpl-run that was killed may take to send TERM
	// to all of its processes.
	deadCaller = time.Second

	quietHold = 2 * time.Second        // after that, say what it waits for
	holdPause = 100 * time.Millisecond // between two looks
)

// A hold keeps the pipes of a call open after its end, so that no reader takes the end of its input
// for success (spec §15.8): until the other calls of a failed operation have ended.
type hold struct {
	ledger  *fileops.Ledger
	observe func() observe.Observation
	op, run string
	call    string
	callers []string // the calls that wait for this one
	mine    []string // the marks of the calls to which this process belongs
	held    []int    // descriptors
	signals <-chan os.Signal
	say     func(text string)

	marks   map[string]string // of dead calls, and their ids
	clear   map[string]bool   // marks that no process carries any more
	stopped map[string]bool   // marks of dead callers
}

// wait returns when the hold is over.
func (h *hold) wait() {
	if h.held = h.own(); len(h.held) == 0 {
		return
	}

	h.marks, h.clear, h.stopped = make(map[string]string), make(map[string]bool), make(map[string]bool)
	began, said := time.Now(), false
	var interrupted time.Time
	for {
		waits := h.waitsFor(time.Since(began))
		if waits == "" || unread(h.held) || time.Since(began) > longestHold {
			return
		}
		if !said && time.Since(began) > quietHold {
			said = true
			h.say(fmt.Sprintf("%s: waits for %s to stop", h.call, waits))
		}

		select {
		case sig := <-h.signals:
			if sig != syscall.SIGINT && sig != syscall.SIGHUP {
				continue
			}
			if !interrupted.IsZero() && time.Since(interrupted) >= time.Second {
				return
			}
			if interrupted.IsZero() {
				interrupted = time.Now()
			}
		case <-time.After(cli.Jittered(holdPause)):
		}
	}
}

// own returns the descriptors that no calling dpl-run has: what one has, it keeps open by living.
func (h *hold) own() []int {
	var pids []int
	op, _, err := h.ledger.ReadOperation(h.op)
	if err != nil {
		return apart(h.held, nil)
	}
	seen := h.observe()
	for _, f := range op.Stack {
		if f.StartID != "" && slices.Contains(h.callers, f.CallID) && f.State.Live() &&
			seen.Checks(f.Vitals) {
			pids = append(pids, f.PID)
		}
	}
	return apart(h.held, pids)
}

// waitsFor returns a call that has not ended, in words, or "". passed is how long it has held.
func (h *hold) waitsFor(passed time.Duration) string {
	op, _, err := h.ledger.ReadOperation(h.op)
	switch {
	case errors.Is(err, fileops.ErrNotFound) || err == nil && op.RunID != h.run:
		op = protocol.Operation{} // the run is over
	case err != nil:
		return h.op + ", which cannot be read,"
	}

	caller := ""
	for _, id := range h.callers {
		if op.Frame(id) != nil {
			continue
		}
		if passed < deadCaller { // it was found dead, and its frame is gone
			caller = id
		}
		for i := range op.Events {
			if e := &op.Events[i]; e.CallID == id {
				h.stopJobOf(e.StartID)
			}
		}
	}
	seen, _ := h.ledger.ObserveOperation(op, h.observe())
	lives := make(map[string]bool) // by mark
	for _, f := range op.Stack {
		evidence, _ := op.Judge(f, seen)
		alive := f.State.Live() && evidence == ""
		switch {
		case f.CallID == h.call:
		case slices.Contains(h.callers, f.CallID):
			stops := alive && f.State != protocol.FrameCleaningUp && passed < lateTerm ||
				!alive && passed < deadCaller
			if f.StartID != "" && stops {
				caller = named(f)
			}
			if !alive {
				h.stopJobOf(f.StartID)
			}
		case alive:
			return named(f)
		default:
			h.died(f.StartID, f.CallID)
		}
		lives[f.StartID] = alive
	}
	for i := range op.Events { // a frame may be gone before it is seen dead
		h.died(op.Events[i].StartID, op.Events[i].CallID)
	}

	for mark, call := range h.marks {
		if lives[mark] || h.clear[mark] {
			continue
		}
		if pids := process.Carriers(process.StartVariable, []string{mark}); len(pids) > 0 {
			if len(process.Carriers(process.KeeperVariable, []string{mark})) == 0 {
				process.SignalMarked(mark, 0, syscall.SIGKILL) // nothing else ends what a dead call has left
			}
			return fmt.Sprintf("processes %s of %s", strings.Trim(fmt.Sprint(pids), "[]"), call)
		}
		h.clear[mark] = true
	}
	return caller
}

// stopJobOf sends TERM once to all processes that a dead caller has left, and that carry its mark.
// Its keeper does so as well, but may come later than the end of the pipe.
func (h *hold) stopJobOf(mark string) {
	if mark != "" && !h.stopped[mark] {
		h.stopped[mark] = true
		process.SignalMarked(mark, 0, syscall.SIGTERM)
	}
}

// died notes that a call is dead whose processes carry mark: they may still be there. It passes
// over the calls to which this process belongs itself.
func (h *hold) died(mark, call string) {
	if mark != "" && !slices.Contains(h.mine, mark) {
		h.marks[mark] = call
	}
}

// ownMarks returns the marks that this process carries.
func ownMarks() []string { return strings.Split(os.Getenv(process.StartVariable), ",") }

// named returns f for people.
func named(f *protocol.Frame) string {
	switch {
	case f.PID == 0:
		return f.CallID
	case f.StartID != "":
		return fmt.Sprintf("%s (dpl-run %d)", f.CallID, f.PID)
	}
	return fmt.Sprintf("%s (process %d)", f.CallID, f.PID)
}

// callersOf returns the calls of op that wait for this process: caller, on whose behalf it works,
// the callers of that, and the calls of its ancestors, also if only their numbers are known.
func callersOf(op protocol.Operation, caller string) (callers []string) {
	for caller != "" && !slices.Contains(callers, caller) {
		callers = append(callers, caller)
		f := op.Frame(caller)
		if f == nil {
			break
		}
		caller = f.CallerID
	}

	ancestors, _ := process.Ancestors()
	for _, f := range op.Stack {
		p := f.Identity()
		isAncestor := func(a observe.Process) bool {
			return a.PID != os.Getpid() && (p.Is(a) || !p.Known() && f.PID == a.PID)
		}
		if slices.ContainsFunc(ancestors, isAncestor) && !slices.Contains(callers, f.CallID) {
			callers = append(callers, f.CallID)
		}
	}
	return callers
}
