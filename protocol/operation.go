package protocol

import (
	"cmp"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Defaults of an operation's numbers (spec §3.1).
const (
	DefaultHeartbeatInterval  = 1500 * time.Millisecond
	DefaultStalenessThreshold = 10 * time.Second
)

// A State is the state of an operation.
type State string

const (
	Running   State = "running"
	Aborted   State = "aborted"
	Cleanup   State = "cleanup"
	Completed State = "completed"
	Failed    State = "failed"
)

// Terminal reports whether s is completed or failed: only the countdown to the archive follows.
func (s State) Terminal() bool { return s == Completed || s == Failed }

// Valid reports whether s is a state of an operation.
func (s State) Valid() bool {
	return s == Running || s == Aborted || s == Cleanup || s.Terminal()
}

// A FrameState is the state of one call.
type FrameState string

const (
	FrameActive     FrameState = "active"
	FrameAborted    FrameState = "aborted"
	FrameCleaningUp FrameState = "cleaningUp"
	FrameCrashed    FrameState = "crashed"
	FrameCleanedUp  FrameState = "cleanedUp"
)

// Live reports whether the call still has a participant: it is active, aborted or cleaningUp.
func (s FrameState) Live() bool {
	return s == FrameActive || s == FrameAborted || s == FrameCleaningUp
}

// Valid reports whether s is a state of a call.
func (s FrameState) Valid() bool { return s.Live() || s == FrameCrashed || s == FrameCleanedUp }

// A Status is the state of a supervisor in an operation.
type Status string

const (
	Alive Status = "alive"
	Dead  Status = "dead"
)

func (s Status) valid() bool { return s == Alive || s == Dead }

// An OrphanPolicy says whether the live calls of a supervisor that died crash or are kept.
type OrphanPolicy string

const (
	OrphanCrash OrphanPolicy = "crash"
	OrphanKeep  OrphanPolicy = "keep"
)

func (p OrphanPolicy) valid() bool { return p == OrphanCrash || p == OrphanKeep }

// An Operation is the content of one operation file (spec §3.1). It is a value: verbs return a
// changed copy. Times are in UTC and whole milliseconds. Decode and Create return one.
type Operation struct {
	Schema             string // for editors, and otherwise ignored
	ProtocolVersion    int
	ID                 string
	RunID              string // of this execution; "": not known
	Revision           int64  // +1 with every edit
	State              State
	LastHeartbeat      time.Time
	Aborted            bool // abort was requested
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
	TerminalAt         time.Time // zero unless State is terminal
	TerminalHeartbeats int
	Stack              []*Frame     // Stack[0] is the root caller
	Supervisors        []Supervisor // in the order of the file
	Transitions        []Transition
	Events             []observe.Event // the last 64
	Spans              []trace.Span    // of traced calls that have ended, the last 256
	Audit              audit.Chain
	Unknown            []wire.Member

	source  *source
	effects Effects
}

// A Frame is one call on the stack (spec §3.2). Operations share the frames in their stacks, so a
// verb replaces a frame by a changed copy and never changes it.
type Frame struct {
	observe.Vitals

	ParticipantID    string
	CallID           string
	CallerID         string // the call on whose behalf this one is made; "": none, or not known
	Traceparent      string // on whose behalf it is made, as its trace has it; "": in no trace
	StartID          string // the mark of the processes of the command of a dpl-run; "": none
	StartTime        time.Time
	State            FrameState
	SupervisorID     string // "": unsupervised
	SupervisorHandle string
	Description      string
	Notice           observe.Notice // zero: it has said nothing
	FailOnCrash      bool
	Resources        []string
	Found            []FoundResource // what was at some of Resources when the call began
	Crash            *Crash          // nil unless it crashed
	Unknown          []wire.Member

	source  *source // what it was decoded from, and where, if decoded is this very frame and not a copy
	piece   wire.Piece
	decoded *Frame
}

// Said returns what the participant of f has said about it.
func (f *Frame) Said() observe.Notice {
	said := f.Notice
	said.Readiness = cmp.Or(said.Readiness, observe.ReadinessReady)
	return said
}

// A Crash says why a frame was declared crashed (spec §3.5), and what has been done about it.
// Frames share it, so it is replaced and never changed.
type Crash struct {
	At            time.Time
	DetectedBy    string
	Evidence      observe.Evidence
	StaleFor      time.Duration // age of the heartbeat when it was detected, at least 0
	PreviousState FrameState
	ReportedAt    time.Time    // zero: not reported to its supervisor yet
	ReportedBeat  observe.Beat // of ReportedAt
	HandlingBy    *Handling    // nil: no program handles it
	LeftResources []observe.LeftResource

	nested *wire.Nested
}

// A Handling is the claim of a program that cleans up a crashed call (spec §5.7). It is never
// changed once set.
type Handling struct {
	PID     int
	Process observe.Process
	At      time.Time
	Unknown []wire.Member

	nested *wire.Nested
}

// A Supervisor is the entry of a supervisor in an operation (spec §3.3).
type Supervisor struct {
	observe.Vitals

	ID           string
	Status       Status
	OrphanPolicy OrphanPolicy
	Unknown      []wire.Member
}

// A Transition is one change of an operation's state.
type Transition struct {
	Revision int64
	From, To State
	At       time.Time
	By       string
	Reason   string
	Cause    *Cause // nil: it had none, or none is known
	Unknown  []wire.Member
}

// Create returns an empty running operation at revision 0: the run called run. Its first edit is
// the first push. A duration of zero means the default.
func Create(id, run string, interval, threshold time.Duration) Operation {
	if threshold == 0 {
		threshold = DefaultStalenessThreshold
	}
	if interval == 0 {
		interval = observe.FittingInterval(DefaultHeartbeatInterval, threshold)
	}
	return Operation{ProtocolVersion: wire.Version, ID: id, RunID: run, State: Running,
		HeartbeatInterval: interval, StalenessThreshold: threshold}
}

// LeftRunning returns the transition in which op left the state running without completing: the
// first thing that went wrong. It reports false if there was none, or op has no record of it.
func (op Operation) LeftRunning() (t Transition, left bool) {
	for _, t := range op.Transitions {
		if t.From == Running && t.To != Completed {
			return t, true
		}
	}
	return Transition{}, false
}

// isRun reports whether run, if it is given, is the run of op.
func (op Operation) isRun(run string) bool { return run == "" || run == op.RunID }

// PassesOn returns the traceparent for what call starts, so that it nests below its span (spec
// §59.2), or "" if call is in no trace or is not open.
func (op Operation) PassesOn(call string) string {
	f := op.Frame(call)
	if f == nil || f.Traceparent == "" {
		return ""
	}
	c, ok := trace.Parse(f.Traceparent)
	if !ok {
		return ""
	}
	return c.In(trace.SpanID(op.ID, call, f.StartTime)).String()
}

// Frame returns the frame of call, or nil.
func (op Operation) Frame(call string) *Frame {
	if i := op.index(call); i >= 0 {
		return op.Stack[i]
	}
	return nil
}

func (op Operation) index(call string) int {
	for i, f := range op.Stack {
		if f.CallID == call {
			return i
		}
	}
	return -1
}

// Supervisor returns the entry of the supervisor id and whether there is one.
func (op Operation) Supervisor(id string) (Supervisor, bool) {
	if i := op.supervisorIndex(id); i >= 0 {
		return op.Supervisors[i], true
	}
	return Supervisor{}, false
}

func (op Operation) supervisorIndex(id string) int {
	for i := range op.Supervisors {
		if op.Supervisors[i].ID == id {
			return i
		}
	}
	return -1
}
