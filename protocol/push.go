package protocol

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
)

// A Push is the request to start a call (spec §5.1).
type Push struct {
	Participant  string
	Call         string
	Run          string // for which the caller acts; "": whichever it is
	Caller       string // the call on whose behalf it is made; "": none
	Traceparent  string // that of its environment; a malformed one is ignored, as the standard says
	StartID      string // the mark of its processes; "": none
	PID          int
	Process      observe.Process
	Supervisor   string
	Handle       string
	Description  string
	Readiness    observe.Readiness // "": ready
	Resources    []string
	Found        []FoundResource // what is at some of Resources
	Tmp          bool            // give it a temporary directory
	Contained    bool            // its crash leaves the operation running: failOnCrash false
	Heartbeats   bool            // it promises to send heartbeats
	Begin        bool            // it is no part of a run that others have begun
	OrphanPolicy OrphanPolicy    // "": unchanged
	Interval     time.Duration
	Threshold    time.Duration // both 0: those of the operation
}

// Push returns op with a frame for p on top of the stack (spec §5.1), and with the participant's
// other frames refreshed. Repeating a push changes nothing. It takes the place of a dead call with
// the same id that leaves op running.
//
// Push returns ErrOver if op is not p.Run, ErrKnownCall if another live frame has the call id,
// ErrNotRunning if op is not running or this very edit detects a crash, ErrOtherTiming if
// p.Interval or p.Threshold is not that of op, ErrNoCall if p.Caller is not in the stack,
// ErrSupervised if a supervisor must clean up that dead call first, and ErrDeadSupervisor.
//
// With p.Begin it returns ErrRunning or ErrStopping if op has a live call, and ErrSupervised or
// ErrDeadCalls if it has dead ones alone. After ErrDeadCalls, passes end the operation.
func (op Operation) Push(p Push, seen observe.Observation) (Operation, error) {
	switch f := op.Frame(p.Call); {
	case !op.isRun(p.Run):
		return op, ErrOver
	case op.State.Terminal():
		return op, ErrNotRunning
	case f == nil || !f.State.Live():
	case p.repeats(f):
		return op.unchanged(), nil
	case op.State != Running && !p.Begin:
		return op, ErrKnownCall
	}

	e := op.begin("push", p.Participant, seen)
	actor := Actor{Participant: p.Participant, PID: p.PID, Process: p.Process}
	if p.Begin { // it is no sign of life of a participant of the same name
		actor = Actor{}
	}
	e.refresh(actor, false)
	e.judgeAll("")
	if err := e.mayPush(p); err != nil {
		return op, err
	}
	if err := e.replace(p.Call); err != nil {
		return op, err
	}
	if err := e.associate(p); err != nil {
		return op, err
	}

	frame := &Frame{
		Vitals:        e.vitals(p.PID, observe.Identity(p.PID, p.Process)),
		ParticipantID: p.Participant, CallID: p.Call, CallerID: p.Caller,
		Traceparent: trace.Normal(p.Traceparent), StartID: p.StartID,
		StartTime: e.seen.Now, State: FrameActive,
		SupervisorID: p.Supervisor, SupervisorHandle: p.Handle, Description: p.Description,
		FailOnCrash: !p.Contained, Resources: p.Resources, Found: p.Found,
		Notice: observe.Notice{Readiness: p.Readiness},
	}
	frame.Heartbeats = p.Heartbeats

	e.op.Stack = append(e.op.Stack, frame)
	e.event(observe.Event{
		Type: observe.CallStarted, CallID: p.Call, CallerID: p.Caller,
		SupervisorID: p.Supervisor, Handle: p.Handle, To: string(FrameActive),
	})

	e.heartbeat()
	if p.Tmp {
		e.op.effects.Begun = append(e.op.effects.Begun, p.Call)
	}

	return e.end()
}

// repeats reports whether f is what p has pushed before. Without an identity it cannot be told from
// the call of another run, whose names are often the same.
func (p Push) repeats(f *Frame) bool {
	own := observe.Identity(p.PID, p.Process)
	return f.ParticipantID == p.Participant && f.Identity().Is(own) && (own.Known() || !p.Begin)
}

// mayPush returns why p is refused after the pass, or nil.
func (e *edit) mayPush(p Push) error {
	if err := e.mayBegin(); p.Begin && err != nil {
		return err
	}

	op, f := e.op, e.op.Frame(p.Call)
	switch {
	case e.before.State != Running:
		return ErrNotRunning
	case p.Interval != 0 && p.Interval != op.HeartbeatInterval,
		p.Threshold != 0 && p.Threshold != op.StalenessThreshold:
		return ErrOtherTiming
	case p.Caller != "" && op.Frame(p.Caller) == nil:
		return fmt.Errorf("caller %q: %w", p.Caller, ErrNoCall)
	case f != nil && f.State.Live():
		return ErrKnownCall
	case op.State != Running:
		return ErrNotRunning
	}
	return nil
}

// MayBegin returns why a call that is no part of the run must wait, as Push does for one with Begin
// (spec §5.1): ErrRunning, ErrStopping, ErrSupervised, ErrDeadCalls, or ErrNotRunning if op is
// terminal. It returns nil if op is running and has no call.
func (op Operation) MayBegin(seen observe.Observation) error {
	if op.State.Terminal() {
		return ErrNotRunning
	}
	e := op.begin("push", "", seen)
	e.judgeAll("")
	return e.mayBegin()
}

// mayBegin returns why a call that is no part of the run must wait, or nil.
func (e *edit) mayBegin() error {
	dead, supervised := false, false
	for _, f := range e.op.Stack {
		if f.State.Live() {
			if e.op.State == Running {
				return ErrRunning
			}
			return ErrStopping
		}
		dead = true
		supervised = supervised || e.awaited(f)
	}

	switch {
	case supervised:
		return ErrSupervised
	case dead:
		return ErrDeadCalls
	}
	return nil
}

// awaited reports whether f has crashed and its supervisor must still clean it up.
func (e *edit) awaited(f *Frame) bool {
	return f.State == FrameCrashed && !e.unsupervised(f) && !e.unacknowledged(f)
}

// replace removes the frame of call, if there is one. It is dead, and op is running all the same.
func (e *edit) replace(call string) error {
	i := e.op.index(call)
	if i < 0 {
		return nil
	}
	f := e.op.Stack[i]
	if e.awaited(f) {
		return ErrSupervised
	}
	if f.State == FrameCrashed {
		e.cleanUpAbandoned(i)
	}
	e.drop(func(j int, _ *Frame) bool { return j == i })
	return nil
}

// associate adds an entry for p's supervisor if it has none.
func (e *edit) associate(p Push) error {
	if p.Supervisor == "" {
		return nil
	}

	i := e.op.supervisorIndex(p.Supervisor)
	if i < 0 {
		i = len(e.op.Supervisors)
		e.newSupervisor(p.Supervisor, 0, observe.Process{})
	}

	s := &e.op.Supervisors[i]
	if s.Status == Dead {
		return ErrDeadSupervisor
	}

	if p.OrphanPolicy != "" {
		s.OrphanPolicy = p.OrphanPolicy
		e.changed = true
	}

	return nil
}

func (e *edit) newSupervisor(id string, pid int, p observe.Process) {
	e.op.Supervisors = append(e.op.Supervisors, Supervisor{
		Vitals: e.vitals(pid, p), ID: id, Status: Alive, OrphanPolicy: OrphanCrash,
	})
	e.event(observe.Event{Type: observe.SupervisorState, SupervisorID: id, To: string(Alive)})
}

// vitals returns those of a process that is alive now.
func (e *edit) vitals(pid int, p observe.Process) observe.Vitals {
	v := observe.Vitals{PID: pid, Process: p}
	v.Refresh(e.seen)
	return v
}
