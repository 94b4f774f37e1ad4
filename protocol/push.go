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
	Caller       string // the call on whose behalf it is made; "": none
	Traceparent  string // that of its environment; a malformed one is ignored, as the standard says
	PID          int
	Process      observe.Process
	Supervisor   string
	Handle       string
	Description  string
	Readiness    observe.Readiness // "": ready
	Resources    []string
	Tmp          bool         // give it a temporary directory
	Contained    bool         // its crash leaves the operation running: failOnCrash false
	Heartbeats   bool         // it promises to send heartbeats
	OrphanPolicy OrphanPolicy // "": unchanged
	Interval     time.Duration
	Threshold    time.Duration // both 0: those of the operation
}

// Push returns op with a frame for p on top of the stack (spec §5.1), and with the participant's
// other frames refreshed. Repeating a push changes nothing. Push returns ErrKnownCall if another
// frame has that call id, ErrNotRunning if op is not running or this very edit detects a crash,
// ErrOtherTiming if p.Interval or p.Threshold is not that of op, ErrNoCall if p.Caller is not in
// the stack, and ErrDeadSupervisor.
func (op Operation) Push(p Push, seen observe.Observation) (Operation, error) {
	if op.State.Terminal() {
		return op, ErrNotRunning
	}

	if f := op.Frame(p.Call); f != nil {
		if f.ParticipantID == p.Participant && f.State.Live() &&
			f.Identity().Is(observe.Identity(p.PID, p.Process)) {
			return op.unchanged(), nil
		}
		return op, ErrKnownCall
	}

	if op.State != Running {
		return op, ErrNotRunning
	}
	if p.Interval != 0 && p.Interval != op.HeartbeatInterval || p.Threshold != 0 &&
		p.Threshold != op.StalenessThreshold {
		return op, ErrOtherTiming
	}
	if p.Caller != "" && op.Frame(p.Caller) == nil {
		return op, fmt.Errorf("caller %q: %w", p.Caller, ErrNoCall)
	}

	e := op.begin("push", p.Participant, seen)
	e.refresh(Actor{Participant: p.Participant, PID: p.PID, Process: p.Process}, false)
	e.judgeAll("")
	if e.op.State != Running {
		return op, ErrNotRunning
	}
	if err := e.associate(p); err != nil {
		return op, err
	}

	frame := &Frame{
		Vitals:        e.vitals(p.PID, observe.Identity(p.PID, p.Process)),
		ParticipantID: p.Participant, CallID: p.Call, CallerID: p.Caller,
		Traceparent: trace.Normal(p.Traceparent), StartTime: e.seen.Now, State: FrameActive,
		SupervisorID: p.Supervisor, SupervisorHandle: p.Handle, Description: p.Description,
		FailOnCrash: !p.Contained, Resources: p.Resources,
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
