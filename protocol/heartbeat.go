package protocol

import (
	"github.com/dpl-project/dpl/protocol/observe"
)

// An Actor is the sender of a heartbeat (spec §4.1): a participant with all its frames, or one
// Call, or a supervisor, or a supervisor together with one of the others.
type Actor struct {
	Participant string
	Call        string
	Run         string // "": whichever it is
	Supervisor  string
	PID         int
	Process     observe.Process // zero: it named no process to be judged by
	Heartbeats  bool            // of a supervisor: it promises more, and is found if it hangs
}

// name returns the name of the actor for the members by and detectedBy.
func (a Actor) name(op Operation) string {
	if f := op.Frame(a.Call); f != nil {
		return f.ParticipantID
	}
	if a.Participant != "" {
		return a.Participant
	}
	return a.Supervisor
}

// has reports whether f is one of the actor's frames.
func (a Actor) has(f *Frame) bool {
	if a.Call != "" {
		return f.CallID == a.Call && (a.Participant == "" || f.ParticipantID == a.Participant)
	}
	return a.Participant != "" && f.ParticipantID == a.Participant
}

func (a Actor) participates() bool { return a.Participant != "" || a.Call != "" }

// Heartbeat returns op after a heartbeat of a (spec §5.2), with say recorded in the live frames of
// a. It returns ErrOver if op is not the run of a, ErrExpired if op must be archived, ErrNoCall if a has no frame, ErrOtherProcess if
// all its live frames belong to another process, ErrNotAborted if it says that it is cleaning
// up while the operation is running, and ErrNotReady if it says that it is idle while one of them
// is starting, stopping or cleaning up.
func (op Operation) Heartbeat(a Actor, say observe.Report, seen observe.Observation) (
	Operation, error,
) {
	if !op.isRun(a.Run) {
		return op, ErrOver
	}
	if op.State.Terminal() {
		return op.countdown()
	}
	if err := op.checkFrames(a); err != nil {
		return op, err
	}
	if say.Cleaning && op.State == Running {
		return op, ErrNotAborted
	}
	if say.Readiness == observe.ReadinessIdle && (say.Cleaning || !op.mayIdle(a)) {
		return op, observe.ErrNotReady
	}

	e := op.begin("heartbeat", a.name(op), seen)
	e.refresh(a, true)
	e.judgeAll("")
	e.heartbeat()
	e.note(say)
	after, err := e.end()
	if err != nil || a.Supervisor == "" || !e.dead {
		return after, err
	}

	for i, f := range after.Stack {
		if f.SupervisorID == a.Supervisor && f.State == FrameCrashed && !f.reported() {
			e.own(i).report(e.seen)
			after.effects.BeatOnly = false
		}
	}

	return after, nil
}

// Reported returns the crashed frames that wait for an acknowledgement by supervisor, in the order
// of the stack. It returns none if supervisor is "".
func (op Operation) Reported(supervisor string) []*Frame {
	var frames []*Frame
	for _, f := range op.Stack {
		if supervisor != "" && f.SupervisorID == supervisor && f.State == FrameCrashed {
			frames = append(frames, f)
		}
	}
	return frames
}

// hasLive reports whether a has a live frame in op.
func (op Operation) hasLive(a Actor) bool {
	for _, f := range op.Stack {
		if a.has(f) && f.State.Live() {
			return true
		}
	}
	return false
}

// checkFrames returns why a, if it is a participant, cannot send a heartbeat.
func (op Operation) checkFrames(a Actor) error {
	if !a.participates() {
		return nil
	}

	frames, live, own := 0, 0, 0
	for _, f := range op.Stack {
		if !a.has(f) {
			continue
		}

		frames++
		if f.State.Live() {
			live++
			if !a.foreign(f) {
				own++
			}
		}
	}

	switch {
	case frames == 0:
		return ErrNoCall
	case live > 0 && own == 0:
		return observe.ErrOtherProcess
	}

	return nil
}

// mayIdle reports whether a may say that it is idle.
func (op Operation) mayIdle(a Actor) bool {
	for _, f := range op.Stack {
		if a.has(f) && f.State.Live() && !a.foreign(f) &&
			(f.State == FrameCleaningUp || !f.Said().Readiness.Ready()) {
			return false
		}
	}
	return true
}

// foreign reports whether f belongs to a process other than the actor's.
func (a Actor) foreign(f *Frame) bool {
	p := f.Identity()
	return a.Process.Known() && p.Known() && !p.Is(a.Process)
}

// refresh is step 2. With adopt, frames without an identity get that of a.
func (e *edit) refresh(a Actor, adopt bool) {
	e.heard = true
	for i, f := range e.op.Stack {
		if !a.has(f) || !f.State.Live() || a.foreign(f) ||
			e.seen.Gone(f.Vitals) != "" {
			continue
		}

		f = e.own(i)
		if adopt && a.Process.Known() && !f.Process.Known() {
			f.SetProcess(a.PID, a.Process)
			e.changed = true
		}

		f.Refresh(e.seen)
		e.refreshed = append(e.refreshed, f.CallID)
	}

	if a.Supervisor != "" {
		e.refreshSupervisor(a)
		e.promise(a)
	}
}

// note records say in the actor's live frames.
func (e *edit) note(say observe.Report) {
	if say == (observe.Report{}) {
		return
	}

	own := func(f *Frame) bool { return f.State.Live() && e.wasRefreshed(f.CallID) }
	for i, f := range e.op.Stack {
		if say.Cleaning && own(f) && f.State != FrameCleaningUp {
			e.setFrameState(e.own(i), FrameCleaningUp, "")
		}
	}

	for i, f := range e.op.Stack {
		if own(f) {
			e.setNotice(i, say)
		}
	}
}

// setNotice updates the notice of the frame at i, if say changes it.
func (e *edit) setNotice(i int, say observe.Report) {
	before := e.op.Stack[i].Said()
	after := before.With(say)
	if after == before {
		return
	}

	f := e.own(i)
	f.Notice, e.changed = after, true
	if after.Readiness != before.Readiness {
		e.event(observe.Event{
			Type: observe.CallReadiness, CallID: f.CallID, SupervisorID: f.SupervisorID,
			Handle: f.SupervisorHandle,
			From:   string(before.Readiness), To: string(after.Readiness),
		})
	}
}

// refreshSupervisor is step 2 for a supervisor (spec §5.2).
func (e *edit) refreshSupervisor(a Actor) {
	actor := observe.Identity(a.PID, a.Process)
	i := e.op.supervisorIndex(a.Supervisor)
	if i < 0 {
		e.newSupervisor(a.Supervisor, a.PID, actor)
		return
	}

	s := &e.op.Supervisors[i]
	replaced := s.Process.Known() &&
		(actor.Known() && !actor.Is(s.Process) ||
			!actor.Known() && e.seen.Gone(s.Vitals) != "")

	if replaced && s.Status == Alive {
		e.supervisorDied(s)
	}

	if replaced || !s.Process.Known() && a.PID != 0 && (s.PID != a.PID || s.Process != actor) {
		s.SetProcess(a.PID, actor)
		e.changed = true
	}

	if replaced {
		s.Heartbeats = false // the process before it had promised them
	}
	if s.Status == Dead {
		e.setStatus(s, Alive)
	}

	s.Refresh(e.seen)
}

// promise records it if the supervisor a promises to send heartbeats.
func (e *edit) promise(a Actor) {
	s := &e.op.Supervisors[e.op.supervisorIndex(a.Supervisor)]
	if a.Heartbeats && !s.Heartbeats {
		s.Heartbeats, e.changed = true, true
	}
}

// Verdict returns what the heartbeat of a that returned op tells a (spec §5.2): VerdictCrashed if a
// participates and this heartbeat left it no live frame, VerdictOver if op is terminal,
// VerdictCleanUp if it is aborted or in cleanup, and VerdictContinue otherwise.
func (op Operation) Verdict(a Actor) observe.Verdict {
	switch counting := op.TerminalHeartbeats > 0; {
	case counting:
		return observe.VerdictOver
	case a.participates() && !op.hasLive(a):
		return observe.VerdictCrashed
	case op.State.Terminal():
		return observe.VerdictOver
	case op.State != Running:
		return observe.VerdictCleanUp
	}

	return observe.VerdictContinue
}
