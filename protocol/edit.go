package protocol

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// unacknowledgedAfter is the number of thresholds that a reported crash waits for its supervisor
// (spec §4.3 step 7).
const unacknowledgedAfter = 10

// Effects are what an edit asks of the file system (spec §2.7). They belong to the edit that
// returned the operation.
type Effects struct {
	// Verb is the verb that has asked.
	Verb string
	// Begun are the calls that need a temporary directory before the commit.
	Begun []string
	// Released are the calls that have not ended well. Their resources must be moved away before
	// the commit.
	Released []Release
	// Ended are the calls whose temporary directory must be deleted.
	Ended []string
	// Publish are the files that get their names before the commit, because a call ends well.
	Publish []observe.Publication
	// BeatOnly: only heartbeats changed, so losing the edit in a power cut does no harm.
	BeatOnly bool
}

// A Release is a call whose resources must be deleted, except what is still as it was Found.
type Release struct {
	CallID    string
	Resources []string
	Found     []FoundResource
}

// Effects returns the effects of the verb that returned op.
func (op Operation) Effects() Effects { return op.effects }

// NoteUndeleted records that resource of call, one of op.Effects().Released, could not be deleted
// because of cause. It does so in the frame, or in the last event of call if the frame has left the
// stack.
func (op Operation) NoteUndeleted(call, resource string, cause error) Operation {
	left := observe.LeftResource{Path: resource, Error: cause.Error()}
	if i := op.index(call); i >= 0 {
		f := *op.Stack[i]
		c := f.ownCrash()
		c.LeftResources = append(slices.Clip(c.LeftResources), left)
		op.Stack = slices.Clone(op.Stack)
		op.Stack[i] = &f
		return op
	}

	op.Events = slices.Clone(op.Events)
	for i := len(op.Events) - 1; i >= 0; i-- {
		if e := &op.Events[i]; e.Type == observe.CallEnded && e.CallID == call {
			e.LeftResources = append(slices.Clip(e.LeftResources), left)
			break
		}
	}

	return op
}

// edit is an edit in progress, on a copy of an operation. Its methods are the steps of spec §4.3.
type edit struct {
	op        Operation
	before    Operation
	seen      observe.Observation
	by        string
	pre       []string // calls that were crashed at the start
	refreshed []string // calls refreshed in step 2
	heard     bool     // a participant or supervisor makes it, and so shows that it is alive
	dead      bool     // a frame is crashed or cleaned up: steps 5, 7 and 8 have work
	beaten    bool     // a heartbeat changed
	changed   bool     // anything else changed

	popped *Pop   // what a pop says of the call that it ends
	why    string // the reason for which popped has failed, or ""
}

// begin returns an edit of a copy of op by verb, after step 1.
func (op Operation) begin(verb, by string, seen observe.Observation) *edit {
	seen.Now = wire.Moment(seen.Now)
	e := &edit{op: op, before: op, seen: seen, by: by}
	e.op.effects = Effects{Verb: verb}
	e.op.Revision++
	e.op.Stack = slices.Clone(op.Stack)
	e.op.Supervisors = slices.Clone(op.Supervisors)
	e.op.Transitions = slices.Clip(op.Transitions)
	e.op.Events = slices.Clip(op.Events)
	e.op.Spans = slices.Clip(op.Spans)

	for i, f := range e.op.Stack {
		if f.hasLeftover() {
			f = e.own(i)
			f.dropLeftovers()
		}
		if f.State == FrameCrashed {
			e.pre = append(e.pre, f.CallID)
		}
		e.dead = e.dead || !f.State.Live()
	}

	for i := range e.op.Supervisors {
		s := &e.op.Supervisors[i]
		s.Vitals = s.Counting()
	}

	return e
}

// hasLeftover reports whether f has a process, a beat or a grace that no longer counts (spec
// §3.4).
func (f *Frame) hasLeftover() bool {
	c := f.Crash
	return f.Vitals != f.Counting() ||
		c != nil && c.ReportedBeat != c.ReportedBeat.Counting(c.ReportedAt)
}

// dropLeftovers changes f, which is a copy.
func (f *Frame) dropLeftovers() {
	f.Vitals = f.Counting()
	if f.Crash != nil {
		c := f.ownCrash()
		c.ReportedBeat = c.ReportedBeat.Counting(c.ReportedAt)
	}
}

// report records that the crash of f, which is a copy, is reported to its supervisor now, unless it
// was reported before.
func (f *Frame) report(seen observe.Observation) {
	if c := f.ownCrash(); c.ReportedAt.IsZero() {
		c.ReportedAt, c.ReportedBeat = seen.Now, seen.Beat()
	}
}

// own puts a copy of the frame at i in its place and returns it: it may be changed.
func (e *edit) own(i int) *Frame {
	f := *e.op.Stack[i]
	e.op.Stack[i] = &f
	return &f
}

// ownCrash gives f, which is a copy, a Crash of its own, which may be changed.
func (f *Frame) ownCrash() *Crash {
	c := Crash{}
	if f.Crash != nil {
		c = *f.Crash
	}
	f.Crash = &c
	return &c
}

// reported reports whether the crash of f was reported to its supervisor.
func (f *Frame) reported() bool { return f.Crash != nil && !f.Crash.ReportedAt.IsZero() }

func (f *Frame) left() []observe.LeftResource {
	if f.Crash == nil {
		return nil
	}
	return f.Crash.LeftResources
}

// judgeAll is the rest of step 2, and steps 3 to 6. Frames of lenient, if it is not "", are not
// judged stale.
func (e *edit) judgeAll(lenient string) {
	e.grant()
	for i := range e.op.Supervisors {
		s := &e.op.Supervisors[i]
		if s.Status != Alive {
			continue
		}
		if evidence, _ := e.op.JudgeSupervisor(*s, e.seen); evidence != "" {
			e.supervisorDied(s)
		}
	}

	for i, f := range e.op.Stack {
		if !f.State.Live() {
			continue
		}
		evidence, age := e.op.Judge(f, e.seen)
		if evidence == "" || evidence == observe.Stale && f.ParticipantID == lenient {
			continue
		}
		e.crash(i, evidence, age)
	}

	e.beginCleanup()
	e.acknowledgeAbort()
}

func (e *edit) wasRefreshed(call string) bool { return slices.Contains(e.refreshed, call) }

// supervisorDied is step 3 for one supervisor.
func (e *edit) supervisorDied(s *Supervisor) {
	e.setStatus(s, Dead)
	if s.OrphanPolicy == OrphanKeep {
		return
	}

	for i, f := range e.op.Stack {
		if f.SupervisorID == s.ID && f.State.Live() {
			e.crash(i, observe.SupervisorDead, e.seen.Age(f.LastHeartbeat, f.Beat))
		}
	}
}

func (e *edit) crash(i int, evidence observe.Evidence, age time.Duration) {
	e.dead = true
	f := e.own(i)
	c := f.ownCrash()
	c.At, c.DetectedBy, c.Evidence, c.PreviousState = e.seen.Now, e.by, evidence, f.State
	c.StaleFor = max(age, 0).Truncate(time.Millisecond)
	e.setFrameState(f, FrameCrashed, "")
}

// beginCleanup is step 5.
func (e *edit) beginCleanup() {
	if !e.dead || e.op.State != Running && e.op.State != Aborted {
		return
	}

	for _, f := range e.op.Stack {
		if f.State != FrameCrashed || !f.FailOnCrash {
			continue
		}

		cause := Cause{Call: f.CallID}
		reason := "call " + f.CallID + " crashed"
		if f.Crash != nil && f.Crash.Evidence != "" {
			cause.Evidence = f.Crash.Evidence
			reason += ": " + string(f.Crash.Evidence)
		}

		e.fail(cause, reason)
		return
	}
}

// acknowledgeAbort is step 6.
func (e *edit) acknowledgeAbort() {
	if e.op.State != Aborted {
		return
	}

	active := false
	for i, f := range e.op.Stack {
		if f.State == FrameActive && e.wasRefreshed(f.CallID) {
			f = e.own(i)
			e.setFrameState(f, FrameAborted, "")
		}
		active = active || f.State == FrameActive
	}

	if !active {
		e.setState(Cleanup, "all calls aborted")
	}
}

// end is steps 7 to 9. It returns the operation after the edit. If nothing changed, or with
// ErrExhausted, it returns the operation before it.
func (e *edit) end() (Operation, error) {
	had := len(e.op.Stack)
	if e.dead {
		e.cleanUpCrashed()
		e.dropCleanedUp()
	}

	if len(e.op.Stack) == 0 && (e.op.State == Aborted || e.op.State == Cleanup ||
		e.op.State == Running && had > 0) {
		e.setState(Failed, "stack empty")
	}
	if !e.changed && !e.beaten {
		return e.before.unchanged(), nil
	}
	if e.op.Revision > wire.LastRevision {
		return e.before, wire.ErrExhausted
	}

	e.op.effects.BeatOnly = !e.changed
	return e.op, nil
}

// unchanged returns op as the result of a verb that changes nothing.
func (op Operation) unchanged() Operation {
	op.effects = Effects{}
	return op
}

// cleanUpCrashed is step 7.
func (e *edit) cleanUpCrashed() {
	for i, f := range e.op.Stack {
		if f.State != FrameCrashed || !slices.Contains(e.pre, f.CallID) || e.op.State != Cleanup &&
			f.FailOnCrash {
			continue
		}

		if !e.awaited(f) {
			e.cleanUpAbandoned(i)
		}
	}
}

// cleanUpAbandoned cleans up frame i, which has crashed and which no supervisor will clean up.
func (e *edit) cleanUpAbandoned(i int) {
	reason := ""
	if !e.unsupervised(e.op.Stack[i]) {
		reason = "unacknowledged"
	}
	e.cleanUp(i, reason)
}

// dropCleanedUp is step 8.
func (e *edit) dropCleanedUp() {
	e.drop(func(i int, f *Frame) bool { return f.State == FrameCleanedUp && !f.FailOnCrash })
	root := 0
	for root < len(e.op.Stack) && e.op.Stack[root].State == FrameCleanedUp {
		root++
	}
	e.drop(func(i int, f *Frame) bool { return i < root })
}

// unsupervised reports whether f has no supervisor, or a dead one.
func (e *edit) unsupervised(f *Frame) bool {
	if f.SupervisorID == "" {
		return true
	}
	s, ok := e.op.Supervisor(f.SupervisorID)
	return !ok || s.Status == Dead
}

func (e *edit) unacknowledged(f *Frame) bool {
	return f.reported() && e.op.overdue(e.seen.Age(f.Crash.ReportedAt, f.Crash.ReportedBeat)) &&
		!e.op.handled(f, e.seen)
}

// overdue reports whether age is more than ten thresholds.
func (op Operation) overdue(age time.Duration) bool {
	return age/unacknowledgedAfter > op.StalenessThreshold
}

// handled reports whether a living program has claimed f (spec §5.7).
func (op Operation) handled(f *Frame, seen observe.Observation) bool {
	if f.Crash == nil || f.Crash.HandlingBy == nil {
		return false
	}
	h := f.Crash.HandlingBy
	v := observe.Vitals{PID: h.PID, Process: h.Process, LastHeartbeat: h.At}
	return seen.Gone(v) == "" &&
		(seen.CanCheck(v.Identity()) || !op.overdue(seen.Age(h.At, observe.Beat{})))
}

// cleanUp marks a crashed frame cleanedUp and releases its resources.
func (e *edit) cleanUp(i int, reason string) {
	f := e.own(i)
	e.release(f)
	if f.Crash != nil {
		f.ownCrash().HandlingBy = nil
	}
	e.setFrameState(f, FrameCleanedUp, reason)
	e.op.effects.Ended = append(e.op.effects.Ended, f.CallID)
}

func (e *edit) release(f *Frame) {
	if len(f.Resources) > 0 {
		e.op.effects.Released = append(e.op.effects.Released,
			Release{CallID: f.CallID, Resources: f.Resources, Found: f.Found})
	}
}

// drop removes from the stack each frame for which gone returns true.
func (e *edit) drop(gone func(i int, f *Frame) bool) {
	kept := e.op.Stack[:0] // begin has cloned it
	for i, f := range e.op.Stack {
		if !gone(i, f) {
			kept = append(kept, f)
			continue
		}

		ended := observe.Event{
			Type: observe.CallEnded, CallID: f.CallID, SupervisorID: f.SupervisorID,
			Handle: f.SupervisorHandle,
			From:   string(f.State), LeftResources: f.left(),
		}
		if !f.State.Live() { // its processes may still be there
			ended.StartID = f.StartID
		}
		if e.popped != nil && e.popped.Call == f.CallID {
			ended.Exit, ended.Reason = e.popped.Exit, e.popped.Reason
		}
		e.event(ended)

		if f.Traceparent != "" {
			e.op.Spans = trace.Append(e.op.Spans, e.span(f))
		}
		if f.State != FrameCleanedUp {
			e.op.effects.Ended = append(e.op.effects.Ended, f.CallID)
		}
	}

	e.op.Stack = kept
}

// span returns what is kept of f, a traced call that ends now.
func (e *edit) span(f *Frame) trace.Span {
	s := trace.Span{
		CallID: f.CallID, CallerID: f.CallerID, ParticipantID: f.ParticipantID,
		Traceparent: f.Traceparent, StartTime: f.StartTime, EndedAt: e.seen.Now,
		PID: f.PID, HostID: f.Identity().HostID, State: string(f.State),
	}
	if f.Crash != nil {
		s.CrashedAt, s.Evidence = f.Crash.At, string(f.Crash.Evidence)
	}
	if e.popped != nil && e.popped.Call == f.CallID {
		s.Reason = e.why
	}
	return s
}

func (e *edit) setState(to State, reason string) {
	e.op.Transitions = append(e.op.Transitions, Transition{
		Revision: e.op.Revision, From: e.op.State, To: to, At: e.seen.Now, By: e.by, Reason: reason,
	})
	e.op.State = to
	if to.Terminal() {
		e.op.TerminalAt, e.op.TerminalHeartbeats = e.seen.Now, 0
	}
	e.changed = true
}

// fail sets the state cleanup because of cause, for people in the words of reason.
func (e *edit) fail(cause Cause, reason string) {
	e.setState(Cleanup, reason)
	e.op.Transitions[len(e.op.Transitions)-1].Cause = &cause
}

// setFrameState changes the state of f, which own has returned.
func (e *edit) setFrameState(f *Frame, to FrameState, reason string) {
	e.event(observe.Event{
		Type: observe.CallState, CallID: f.CallID, SupervisorID: f.SupervisorID,
		Handle: f.SupervisorHandle,
		From:   string(f.State), To: string(to), Reason: reason,
	})
	f.State = to
}

func (e *edit) setStatus(s *Supervisor, to Status) {
	e.event(observe.Event{Type: observe.SupervisorState, SupervisorID: s.ID, From: string(s.Status),
		To: string(to)})
	s.Status = to
}

// event appends v to the ring of events.
func (e *edit) event(v observe.Event) {
	e.op.Events = observe.Append(e.op.Events, v, e.op.Revision, e.by, e.seen)
	e.changed = true
}

// heartbeat sets the root's lastHeartbeat. The edit then counts as one even if the time is the
// same.
func (e *edit) heartbeat() {
	e.op.LastHeartbeat = e.seen.Now
	e.beaten = true
}
