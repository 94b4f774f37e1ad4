package group

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The defaults of a group, of a restart policy and of the time between TERM and KILL (spec §9.1,
// §9.3).
const (
	DefaultInterval    = 2 * time.Second
	DefaultThreshold   = 10 * time.Second
	DefaultKillTimeout = 5 * time.Second
	DefaultLogMax      = 10 << 20 // bytes
	DefaultLogKeep     = 3

	DefaultPreflightTimeout = 10 * time.Second
	DefaultFinishTimeout    = 5 * time.Second
)

// LeastLogMax is the smallest size, in bytes, at which a log is rotated.
const LeastLogMax = 64 << 10

// LeastLogEvery is the shortest time after which a log is rotated.
const LeastLogEvery = time.Minute

// A Group is the content of the two files of a group (spec §9). It is a value: verbs return a
// changed copy.
type Group struct {
	ID           string
	Orchestrator Orchestrator
	Registry     Registry

	effects Effects
	ends    map[string]Ending // see WithEnds; nil: it was not called
}

// Effects are what an edit of a group asks of the file system. They belong to the edit that
// returned the group.
type Effects struct {
	// Verb is the verb that has asked.
	Verb string
	// BeatOnly: only a heartbeat changed, so losing the edit in a power cut does no harm.
	BeatOnly bool
	// Cleared: the old registry must be copied to the archive before the commit.
	Cleared bool
}

// Effects returns the effects of the verb that returned g.
func (g Group) Effects() Effects { return g.effects }

// Create returns a group without services and passes.
func Create(id string) Group {
	return Group{
		ID: id,
		Orchestrator: Orchestrator{
			ProtocolVersion: wire.Version, GroupID: id, State: OrchestratorStopped,
			HeartbeatInterval: DefaultInterval, StalenessThreshold: DefaultThreshold,
		},
		Registry: Registry{ProtocolVersion: wire.Version, AlertsGiven: NoneGiven},
	}
}

// An OrchestratorState is the state of a group's orchestrator.
type OrchestratorState string

const (
	OrchestratorStarting     OrchestratorState = "starting"
	OrchestratorRunning      OrchestratorState = "running"
	OrchestratorShuttingDown OrchestratorState = "shuttingDown"
	OrchestratorStopped      OrchestratorState = "stopped"
)

// left reports whether a resident orchestrator has said that no more passes come from it.
func (s OrchestratorState) left() bool {
	return s == OrchestratorShuttingDown || s == OrchestratorStopped
}

func (s OrchestratorState) valid() bool {
	switch s {
	case OrchestratorStarting, OrchestratorRunning, OrchestratorShuttingDown, OrchestratorStopped:
		return true
	}
	return false
}

// An Orchestrator is the content of a group's orchestrator file (spec §9.1): the last pass, and the
// group's durations.
type Orchestrator struct {
	Schema             string // for editors, and otherwise ignored
	ProtocolVersion    int
	GroupID            string
	Revision           int64 // +1 with every pass
	PID                int   // of the last pass; 0: none
	Heartbeat          time.Time
	State              OrchestratorState
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
	Beat               observe.Beat
	Period             time.Duration // between the last pass and the one before; 0: unknown
	HostID             string        // where the last pass was made; "": unknown
	Failover           bool          // the last pass that nothing prompted had --failover
	Checks             []Checked     // of the health of services, by id; never changed
	Unknown            []wire.Member

	nested *wire.Nested
}

// A Registry is the content of a group's supervisors file (spec §9.2).
type Registry struct {
	Schema          string // for editors, and otherwise ignored
	ProtocolVersion int
	Revision        int64           // +1 with every edit
	Owner           string          // the owner of its passes; "" if there is none yet
	Supervision     Supervision     // what is done about failures in the group as a whole
	Services        []Service       // in the order of the file
	AlertSeq        int64           // number of the last alert
	AlertsGiven     int64           // number of the last alert given to a hook, or NoneGiven
	AlertTries      *AlertTries     // the alert that waits for another try; nil: none does
	AlertsLost      []int64         // the last ones that the hook has not taken in the last try
	PendingAlerts   []Alert         // not in the alerts file, as far as is known
	Events          []observe.Event // the last 64
	Audit           audit.Chain     // the end of the record; no verb changes it
	Unknown         []wire.Member
}

// NoneGiven is the AlertsGiven of a registry that has never given an alert to a hook.
const NoneGiven = -1

// A ServiceState is the state of a registered service (spec §9.3).
type ServiceState string

const (
	StateRegistered   ServiceState = "registered"
	StateWaiting      ServiceState = "waitingForDependencies"
	StateRunning      ServiceState = "running"
	StateFailed       ServiceState = "failed"
	StateScheduled    ServiceState = "restartScheduled"
	StateDead         ServiceState = "dead"
	StateShuttingDown ServiceState = "shuttingDown"
	StateStopped      ServiceState = "stopped"
	StateCompleted    ServiceState = "completed"
)

func (s ServiceState) valid() bool {
	switch s {
	case StateRegistered, StateWaiting, StateRunning, StateFailed, StateScheduled,
		StateShuttingDown:
		return true
	}
	return s.Final()
}

// Final reports whether only a new registration or a restart brings the service back.
func (s ServiceState) Final() bool {
	return s == StateDead || s == StateStopped || s == StateCompleted
}

// A Service is one service of a group (spec §9.3): what was asked for, what it is, what is being
// done about it, and what was reported of it. In the file all members are side by side.
type Service struct {
	ID string
	ServiceSpec
	ServiceStatus
	ServiceRecovery
	ServiceReports
	Restarts []time.Time // charged ends in the IntensityPeriod before the last one; never changed
	Unknown  []wire.Member

	nested *wire.Nested
}

// A ServiceSpec is what was asked for. Registering sets it, and passes do not change it.
type ServiceSpec struct {
	Order        int64      // its place among the services of the group: see InOrder
	StartInfo    *StartInfo // nil: only the service itself can start it. It is replaced, never changed
	Restartable  bool
	Restart      policy.RestartType
	Dependencies []string
	KillTimeout  time.Duration
	OnDead       policy.OnDead
	Significant  bool          // its group may end when it is over: see AutoShutdown
	AlertOn      AlertOn       // which alerts are raised about it
	KeepEnded    time.Duration // how long its entry is kept once it has ended; 0: by its type

	// Services that must have completed before this one is started.
	DependenciesCompleted []string
}

// An AlertOn says which alerts are raised about a service (spec §30.2).
type AlertOn string

const (
	AlertOnAll   AlertOn = ""      // all of them
	AlertOnFinal AlertOn = "final" // only that it is dead
)

// A ServiceStatus is what is known of a service and of its process.
//
// A running service has a LastHeartbeat; a stopped one has none, and nothing of a start. What
// belongs to a start (Attempt, StartID, Keeper, LogFile, StartedWith, Starting) is there only
// together with StartedAt. A service is Starting only while it is running or shutting down. It has
// a RunningSince only then, or while it waits to be started again. Ended waits only where there is
// a PID.
type ServiceStatus struct {
	observe.Vitals

	State  ServiceState
	Notice observe.Notice // what it says of itself

	StartedAt    time.Time       // when a pass started the process; zero: it started by itself
	StartedBeat  observe.Beat    // of StartedAt, for a service with a clock
	ProgressAt   time.Time       // when the process last reported progress; zero: never
	ProgressBeat observe.Beat    // of ProgressAt
	Asked        *Asks           // the checkpoints that it was asked for
	Paused       *Pause          // why its process is stopped by a signal; nil: it is not
	PausedFor    time.Duration   // how long its process was paused before that, in all
	Health       *Health         // what checks of this start have found; nil: nothing, and it need not
	Attempt      int             // RestartAttempts at that time
	Generation   int64           // how often a pass has begun the group that it is
	StartID      string          // random, of that start; "": none
	Keeper       observe.Process // of that start: the parent of all that it has started; zero: none
	LogFile      LogFile         // the log of that start; zero: it is in a journal, or unknown
	StartedWith  *StartInfo      // how that start was made, where that differs from StartInfo; else nil
	Starting     bool            // whether that start came to its end is not known yet

	RunningSince time.Time
	GoneSince    time.Time    // when a pass first found it gone, and awaited how it ended
	GoneBeat     observe.Beat // of GoneSince
	Ended        *policy.Exit // what was reported of its end before a pass found it, or nil; never changed
	LastExit     *policy.Exit
}

// A ServiceRecovery is what is being done about a service that has failed, waits, or must stop.
//
// A failed service has FailedAt, a scheduled one also has NextAttemptAt, and one that waits with a
// RestartPending has both. A start and a stop remove them. (A waiting service that runs by itself
// keeps them.) Only a service that has yet to start has BlockedBy. Only a failed one has StopFor,
// or a running one that the next pass stops. StopRequestedAt is set exactly while a service is
// shutting down, and StartAgain or RemoveAfterStop only then. StoppedBy also stays with a stopped
// one. A running, dead or stopped service has no TermSentAt.
type ServiceRecovery struct {
	RestartAttempts    int
	Retries            int // restarts that are not charged, since it was last healthy
	PersistentRow      int // ends in a row whose class is persistent
	LastRestartAttempt time.Time
	FirstFailedAt      time.Time // since it was last healthy, for its Deadline
	FailedAt           time.Time
	NextAttemptAt      time.Time
	RestartPending     bool // the start that waits for dependencies is a restart
	BlockedBy          string
	RestartCause       string   // the service because of whose failure it restarts; "": its own
	StopFor            *StopFor // why passes stop it; nil: they do not. It is replaced, never changed

	StopRequestedAt time.Time
	StoppedBy       string // who asked for the stop; "": nobody, its group ended
	StartAgain      bool   // when it has stopped, it is started again
	RemoveAfterStop bool   // when it has stopped, it is removed
	TermSentAt      time.Time
	TermSentBeat    observe.Beat // of TermSentAt

	Silence     *Span        // while hooks get no alerts about it; nil: they do
	Maintenance *Maintenance // while passes leave it alone; nil: they do not
}

// ServiceReports are what a service has spent, and how it has violated rules, as it and others say
// (spec §27).
//
// Spent belongs to the process, and SpentTotal to all that the service has ever had.
type ServiceReports struct {
	Spent      policy.Amounts
	SpentTotal policy.Amounts
	Violations *Violations
}

// A StartInfo says how to start a service.
//
// Either it has a Command or a Group.
type StartInfo struct {
	Command     string
	Group       string // the group that the service is; "": it is a process
	Args        []string
	Dir         string
	Environment []Variable
	// EnvironmentFile is the absolute path of a file with more variables, which each start reads
	// (spec §11.6); "": none.
	EnvironmentFile string

	Context    Context
	Readiness  observe.Readiness // its readiness at the start
	Policy     policy.RestartPolicy
	ExitStatus policy.ExitStatus
	LogMax     int64 // size in bytes at which its log is rotated, at least LeastLogMax; 0 means never
	LogKeep    int   // the number of rotated files to keep, at least 1
	// LogEvery is how often its log is rotated, whatever its size, at least LeastLogEvery; 0 means
	// never. See Decision.Rotate.
	LogEvery    time.Duration
	LogCompress bool // rotated files are compressed, except the newest one

	// When it has run for so long, or has made no progress for so long, it is asked for a
	// checkpoint (soft), or stopped (max). 0: never.
	RuntimeSoft, RuntimeMax, ProgressSoft, ProgressMax time.Duration
	SoftSignal                                         SignalName // sent when a clock asks; "": none

	// Preflight says by its exit status whether it may begin, within PreflightTimeout
	// (0: DefaultPreflightTimeout); nil: it may.
	Preflight        []string
	PreflightTimeout time.Duration
	// Finish runs after each end, for at most FinishTimeout (0: DefaultFinishTimeout); nil:
	// nothing.
	Finish        []string
	FinishTimeout time.Duration
	Health        HealthCheck

	Budget  policy.Budget
	Unknown []wire.Member
}

// startsAs reports whether a process started with t does the same as one started with s. Members
// used only by passes, such as the policy, may differ: they apply at once.
func (s *StartInfo) startsAs(t *StartInfo) bool {
	return s.Command == t.Command && s.Group == t.Group && slices.Equal(s.Args, t.Args) &&
		s.Dir == t.Dir && s.EnvironmentFile == t.EnvironmentFile && s.Context == t.Context &&
		sameVariables(s.Environment, t.Environment)
}

// sameVariables reports whether a and b are the same variables, in any order.
func sameVariables(a, b []Variable) bool {
	values := make(map[string]string)
	for _, v := range a {
		values[v.Name] = v.Value
	}
	return len(a) == len(b) && !slices.ContainsFunc(b, func(v Variable) bool {
		value, has := values[v.Name]
		return !has || value != v.Value
	})
}

// Outdated reports whether the process of s was started with old settings. A restart applies the
// new ones.
func (s *Service) Outdated() bool { return s.State == StateRunning && s.StartedWith != nil }

// Over reports whether no pass starts s again: only a request brings it back.
func (s *Service) Over() bool { return s.State.Final() }

// RestartPolicy returns the restart policy of s. A service without a command has the default one.
func (s *Service) RestartPolicy() policy.RestartPolicy {
	if s.StartInfo == nil {
		return policy.DefaultPolicy()
	}
	return s.StartInfo.Policy
}

// A Variable is a variable of an environment.
type Variable struct{ Name, Value string }

// An AlertType is the subject of an Alert (spec §9.4).
type AlertType string

const (
	AlertFailed    AlertType = "supervisorFailed"
	AlertRestarted AlertType = "supervisorRestarted"
	AlertDead      AlertType = "supervisorDead"
	AlertNudged    AlertType = "supervisorNudged"
	AlertBlocked   AlertType = "supervisorBlocked"
	AlertTakeover  AlertType = "orchestratorTakeover"
	AlertRebooted  AlertType = "hostRebooted"
	AlertCompleted AlertType = "supervisorCompleted"
	AlertRetrying  AlertType = "supervisorRetrying"
	AlertViolation AlertType = "violation"
	AlertPaused    AlertType = "supervisorPaused"
	AlertUnchecked AlertType = "supervisorUnchecked"

	AlertGroupEnded   AlertType = "groupEnded"
	AlertGroupBlocked AlertType = "groupBlocked"
	AlertHostShort    AlertType = "hostShort"
	AlertLogCut       AlertType = "logCut"
	AlertSilenceOver  AlertType = "silenceOver"

	AlertMaintenanceOver AlertType = "maintenanceOver"
)

// An Alert is a message for people or programs outside.
type Alert struct {
	Seq       int64
	Type      AlertType
	ServiceID string // "": the orchestrator itself
	Message   string
	Timestamp time.Time
	Silenced  bool // no hook gets it
	Unknown   []wire.Member
}

// Service returns the service id, or nil. It must not be changed.
func (g Group) Service(id string) *Service {
	if i := g.Registry.index(id); i >= 0 {
		return &g.Registry.Services[i]
	}
	return nil
}

func (r Registry) index(id string) int {
	for i := range r.Services { // in place: a service is large
		if r.Services[i].ID == id {
			return i
		}
	}
	return -1
}

// Places returns the index of each service by id.
func (r Registry) Places() map[string]int {
	all := make(map[string]int, len(r.Services))
	for i := range r.Services {
		all[r.Services[i].ID] = i
	}
	return all
}

// InOrder compares a and b by the order in which passes visit and start them (spec §22.1): by
// Order, and then by id.
func InOrder(a, b *Service) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
}

// Ordered returns the ids of all services in the order in which a pass visits them.
func (r Registry) Ordered() []string {
	return r.OrderedIf(func(*Service) bool { return true })
}

// OrderedIf returns the ids of the services for which is returns true, in order. It looks at each
// once, and sorts only those: mostly there are none.
func (r Registry) OrderedIf(is func(s *Service) bool) (ids []string) {
	var all []*Service
	for i := range r.Services {
		if is(&r.Services[i]) {
			all = append(all, &r.Services[i])
		}
	}
	slices.SortFunc(all, InOrder)

	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// leavesFirst returns the ids of all services, each after those that depend on it, and otherwise
// in order.
func (r Registry) leavesFirst() (ids []string) {
	done, ordered := make(map[string]bool), r.Ordered()
	var visit func(id string)
	visit = func(id string) {
		if done[id] {
			return
		}

		done[id] = true
		for _, other := range ordered {
			if slices.Contains(r.Services[r.index(other)].Dependencies, id) {
				visit(other)
			}
		}

		ids = append(ids, id)
	}

	for _, id := range ordered {
		visit(id)
	}

	return ids
}

// dependents returns the services that depend on id, directly or not, in order.
func (r Registry) dependents(id string) []string {
	found := map[string]bool{id: true}
	for grown := true; grown; {
		grown = false
		for i := range r.Services {
			s := &r.Services[i]
			if !found[s.ID] && slices.ContainsFunc(s.Dependencies,
				func(d string) bool { return found[d] }) {
				found[s.ID], grown = true, true
			}
		}
	}

	return slices.DeleteFunc(r.Ordered(), func(other string) bool {
		return other == id ||
			!found[other]
	})
}
