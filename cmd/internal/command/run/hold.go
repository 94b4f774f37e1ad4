package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

const (
	longestHold = time.Minute

	// lateTerm is how long a calling dpl-run may take to find that the operation has failed, to
	// send TERM and to record that. It looks at least every mostInterval, but the machine may be
	// busy.
	lateTerm     = 10 * time.Second
	mostInterval = 1500 * time.Millisecond

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
		if waits == "" || h.unread() || time.Since(began) > longestHold {
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

// hold holds the pipes of this process, whose call has ended or could not begin, if the operation
// op of l has failed. callers are calls that are known to wait for it.
func (c *run) hold(env *cli.Env, s *session.Session, l *fileops.Ledger, op, run, call string,
	callers []string, say func(text string)) {
	if len(c.held) == 0 || s.DryRun() {
		return
	}
	now, _, err := l.ReadOperation(op)
	if errors.Is(err, fileops.ErrNotFound) || err == nil && (run != "" && now.RunID != run ||
		now.State == protocol.Running || now.State == protocol.Completed) {
		return
	}

	h := hold{ledger: l, observe: s.Observer(), op: op, run: now.RunID, call: call,
		callers: append(callers, callersOf(now, env.CallIn(op))...), mine: ownMarks(),
		held: c.held, signals: c.account.signals, say: say}
	if c.account.keeper == nil { // the command was not started
		c.account.keeper = job.NewKeeper(process.NewStartID(), 0, c.held...)
		c.account.keeper.Tell(noteOf(l, op, h.run, call, "", call, h.callers))
	}
	h.wait()
}

// note returns what the keeper of c needs to hold its pipes: see keepOn. Before the push the run is
// not known.
func (c *call) note() []byte {
	return noteOf(c.ledger, c.op, c.run, c.push.Call, c.push.StartID, c.push.Participant, c.callers)
}

func noteOf(l *fileops.Ledger, op, run, call, startID, participant string, callers []string) []byte {
	fields := append([]string{l.Dir(), op, run, call, startID, participant,
		os.Getenv(process.StartVariable)}, callers...)
	return []byte(strings.Join(fields, "\x00"))
}

// keepOn is what a keeper does in the place of its runner once it has ended the job: it makes the
// pass that finds the crash, holds the pipes, and ends the operation if no call is left.
func keepOn(note []byte, held []int) {
	fields := strings.Split(string(note), "\x00")
	if len(fields) < 7 {
		return
	}
	s := session.New(session.Options{Program: "dpl-run", Ledger: fields[0],
		LockTimeout: longestHold})
	l, err := s.Open()
	if err != nil {
		return
	}

	h := hold{ledger: l, observe: s.Observer(), op: fields[1], run: fields[2], call: fields[3],
		callers: fields[7:], mine: strings.Split(fields[6], ","), held: held,
		say: func(string) {}}
	by := fields[5]
	if h.run == "" { // its runner was killed in the push
		op, archived, err := l.ReadOperation(h.op)
		f := op.Frame(h.call)
		if err != nil || archived || f == nil || f.StartID != fields[4] {
			return
		}
		h.run, h.callers = op.RunID, callersOf(op, f.CallerID)
	}
	for end := time.Now().Add(longestHold); time.Now().Before(end); time.Sleep(holdPause) {
		edit, err := s.EditOperation(l, h.op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if op.RunID != h.run || op.State.Terminal() {
					return op, protocol.ErrOver
				}
				return op.Cleanup(by, seen)
			})
		state := edit.After.State
		switch {
		case err != nil && !gone(err):
			continue // the disk is full, or the lock is held
		case err == nil && (state == protocol.Running || state == protocol.Completed):
			return
		}
		h.wait()
		s.EndDead(l, h.op, h.run, by) // if it cannot, the next pass does
		return
	}
}

// Failed fails the operation if its call could not begin, and holds the pipes if it has failed.
// Then it ends this process as the terminal has ended the command.
func (c *run) Failed(env *cli.Env, args []string, status int) {
	a := &c.account
	say := func(text string) { env.Warnf("%s", text) }
	if call, is := a.role.(*call); is && a.begun {
		c.hold(env, env.Session, call.ledger, call.op, call.run, call.push.Call, call.callers, say)
	} else if !a.begun && c.Queue == "" && c.Group == "" {
		c.notBegun(env, args, status, say)
	}

	if a.keeper != nil {
		a.keeper.Dismiss()
	}
	if a.interrupt != 0 {
		env.Flush()
		job.PassOn(a.interrupt)
	}
}

// notBegun fails the operation that this process is part of, because its command was not started
// (spec §15.8), and holds the pipes. Of a run that has ended, and of one that is failing already,
// it only holds the pipes.
func (c *run) notBegun(env *cli.Env, args []string, status int, say func(text string)) {
	op := cmp.Or(string(c.Op), env.Variable("DPL_OP"))
	elsewhere := c.Op == "" && slices.ContainsFunc(args,
		func(arg string) bool { return strings.HasPrefix(arg, "--op") }) ||
		c.Ledger == "" && slices.ContainsFunc(args,
			func(arg string) bool { return strings.HasPrefix(arg, "--ledger") })
	run := env.RunOf(op)
	if wire.CheckID(op) != nil || status == cli.StatusOver || elsewhere ||
		run == "" && env.Variable("DPL_OP") != op || env.DryRun() {
		return
	}

	// After wrong flags, those of the ledger may not have been read.
	s := session.New(session.Options{Program: env.Program, LockTimeout: longestHold,
		Ledger: cmp.Or(string(c.Ledger), os.Getenv("DPL_LEDGER"))})
	l, err := s.Open()
	if err != nil {
		return
	}
	participant := string(c.Participant)
	if participant == "" {
		participant = env.Program
		if len(c.Command) > 0 {
			participant = participantOf(c.Command[0])
		}
	}
	call := cmp.Or(string(c.Call), participant)
	c.held = inherited()
	judged := c.CallerDecides && env.Variable("DPL_CALL") != ""
	verb := func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
		return op.Cleanup(participant, seen) // nothing records the crash for which a push was refused
	}
	if status != cli.StatusCleanUp && !judged {
		why := fmt.Sprintf("exit status %d", status)
		if c.account.failure != nil {
			why = c.account.failure.Error()
		}
		failing := protocol.Failing{Call: call, By: participant, Run: run,
			Reason: "not started: " + why}
		verb = func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Fail(failing, seen)
		}
	}
	if run != "" && (status == cli.StatusCleanUp || !judged) {
		for until := time.Now().Add(c.patience()); ; {
			_, err = s.EditOperation(l, op, fileops.Existing, verb)
			if err == nil || !cli.Transient(err) || time.Now().After(until) ||
				!mayRetry(c.account.signals) {
				break
			}
		}
		if err != nil && !gone(err) {
			env.Warnf("%v", cli.Named("fail", op, call, err))
		}
	}

	c.hold(env, s, l, op, run, call, nil, say)
}
