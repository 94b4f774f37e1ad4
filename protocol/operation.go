package protocol

import "time"

// Version is the highest protocolVersion this package understands.
const Version = 1

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

func (s State) valid() bool {
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

func (s FrameState) valid() bool { return s.Live() || s == FrameCrashed || s == FrameCleanedUp }

// A Status is the state of a supervisor in an operation.
type Status string

const (
	Alive Status = "alive"
	Dead  Status = "dead"
)

// An OrphanPolicy says whether the live calls of a supervisor that died crash or are kept.
type OrphanPolicy string

const (
	OrphanCrash OrphanPolicy = "crash"
	OrphanKeep  OrphanPolicy = "keep"
)

// An Evidence is the reason why a frame or supervisor is dead (spec §4.2).
type Evidence string

const (
	Exited         Evidence = "exited"
	Rebooted       Evidence = "rebooted"
	Stale          Evidence = "stale"
	SupervisorDead Evidence = "supervisorDead"
)

// An Operation is the content of one operation file (spec §3.1). It is a value: verbs return a
// changed copy. Times are in UTC and whole milliseconds. Decode and Create return one.
type Operation struct {
	ProtocolVersion    int
	ID                 string
	Revision           int64 // +1 with every edit
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
	Events             []Event // the last 64
	Unknown            []Member

	source  *source
	effects Effects
}

// A Frame is one call on the stack (spec §3.2). Operations share the frames in their stacks, so a
// verb replaces a frame by a changed copy and never changes it.
type Frame struct {
	ParticipantID    string
	CallID           string
	CallerID         string // the call on whose behalf this one is made; "": none, or not known
	PID              int    // 0: unknown
	StartTime        time.Time
	LastHeartbeat    time.Time
	State            FrameState
	SupervisorID     string // "": unsupervised
	SupervisorHandle string
	Description      string
	Notice           *Notice // nil: it has said nothing
	FailOnCrash      bool
	Heartbeats       bool // it promised to send heartbeats: without them it is stale, even while its process lives
	Resources        []string
	Process          Process // zero: identity not known
	Beat             Beat    // zero: none
	Grace            *Grace  // nil: none
	Crash            *Crash  // nil unless it crashed
	Unknown          []Member

	nested  *nestedUnknown
	source  *source // what it was decoded from, from start to end, if decoded is this very frame and not a copy
	start   int32
	end     int32
	decoded *Frame
}

// nestedUnknown is the unknown members of process, keeper and beat, and of the beats of reports and
// signals: reportedBeat, termSentBeat.
type nestedUnknown struct {
	process, keeper, beat, told []Member
}

// withoutProcess returns what is left of n when the process has been replaced.
func (n *nestedUnknown) withoutProcess() *nestedUnknown {
	if n == nil || n.beat == nil && n.told == nil {
		return nil
	}
	return &nestedUnknown{beat: n.beat, told: n.told}
}

func (n *nestedUnknown) ofProcess() []Member {
	if n == nil {
		return nil
	}
	return n.process
}

func (n *nestedUnknown) ofKeeper() []Member {
	if n == nil {
		return nil
	}
	return n.keeper
}

func (n *nestedUnknown) ofBeat() []Member {
	if n == nil {
		return nil
	}
	return n.beat
}

func (n *nestedUnknown) ofTold() []Member {
	if n == nil {
		return nil
	}
	return n.told
}

// A Crash says why a frame was declared crashed (spec §3.5), and what has been done about it.
// Frames share it, so it is replaced and never changed.
type Crash struct {
	At            time.Time
	DetectedBy    string
	Evidence      Evidence
	StaleFor      time.Duration // age of the heartbeat when it was detected, at least 0
	PreviousState FrameState
	ReportedAt    time.Time // zero: not reported to its supervisor yet
	ReportedBeat  Beat      // of ReportedAt
	HandlingBy    *Handling // nil: no program handles it
	LeftResources []LeftResource
}

// A Handling is the claim of a program that cleans up a crashed call (spec §5.7). It is never
// changed once set.
type Handling struct {
	PID     int
	Process Process
	At      time.Time
	Unknown []Member

	nested *nestedUnknown
}

// A LeftResource is a resource of a crashed call that could not be deleted.
type LeftResource struct {
	Path    string
	Error   string
	Unknown []Member
}

// A Supervisor is the entry of a supervisor in an operation (spec §3.3).
type Supervisor struct {
	ID            string
	PID           int
	LastHeartbeat time.Time
	Status        Status
	OrphanPolicy  OrphanPolicy
	Heartbeats    bool // as of a Frame
	Process       Process
	Beat          Beat
	Grace         *Grace // nil: none
	Unknown       []Member

	nested *nestedUnknown
}

// A Beat is a time on the monotonic clock (spec §3.4), usually that of a heartbeat. It counts only
// while At equals the time that is recorded beside it.
type Beat struct {
	BootID      string
	MonotonicMs int64
	At          time.Time
}

// A Transition is one change of an operation's state.
type Transition struct {
	Revision int64
	From, To State
	At       time.Time
	By       string
	Reason   string
	Unknown  []Member
}

// An EventType is the kind of an Event (spec §3.6).
type EventType string

const (
	CallStarted     EventType = "callStarted"
	CallState       EventType = "callState"
	CallReadiness   EventType = "callReadiness"
	CallEnded       EventType = "callEnded"
	SupervisorState EventType = "supervisorState"

	SupervisorReadiness EventType = "supervisorReadiness" // of a service
)

// maxEvents is how many events an operation keeps.
const maxEvents = 64

// An Event records that a call started, changed its state or ended, or that a supervisor or service
// changed its state. Strings that do not apply are empty.
type Event struct {
	Revision      int64
	At            time.Time
	Type          EventType
	CallID        string
	CallerID      string // of CallStarted
	SupervisorID  string
	Handle        string
	From, To      string
	By            string
	Reason        string
	LeftResources []LeftResource
	Unknown       []Member
}

// A Member is an unknown member of an object, which is kept. Its value is JSON text.
type Member struct {
	Name  string
	Value string
}

// Create returns an empty running operation at revision 0. Its first edit is the first push. A
// duration of zero means the default.
func Create(id string, interval, threshold time.Duration) Operation {
	if threshold == 0 {
		threshold = DefaultStalenessThreshold
	}
	if interval == 0 {
		interval = fittingInterval(DefaultHeartbeatInterval, threshold)
	}
	return Operation{ProtocolVersion: Version, ID: id, State: Running, HeartbeatInterval: interval,
		StalenessThreshold: threshold}
}

// fittingInterval returns interval, or a third of threshold if that is less, in whole milliseconds
// and at least one. With that, one late or lost heartbeat makes nothing stale.
func fittingInterval(interval, threshold time.Duration) time.Duration {
	return min(interval, max((threshold/3).Truncate(time.Millisecond), time.Millisecond))
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
