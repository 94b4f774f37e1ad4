package group

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A ServiceState is the state of a registered service (groups.md §9.3).
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

// A Service is one service of a group (§9.3): what was asked for, what it is, what is being
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

// An AlertOn says which alerts are raised about a service (supervision.md §30.2).
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
	StartedWith  *StartInfo      // how that start was made; nil: with StartInfo
	Starting     bool            // whether that start came to its end is not known yet

	RunningSince time.Time
	GoneSince    time.Time    // when a pass first found it gone, and awaited how it ended
	GoneBeat     observe.Beat // of GoneSince
	Ended        *policy.Exit // what was reported of its end, until a pass finds it; never changed
	LastExit     *policy.Exit
}

// A LogFile identifies the file to which a start writes its output, whatever its names
// (§11.8).
type LogFile struct{ Device, Inode int64 }

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
// (§27).
//
// Spent belongs to the process, and SpentTotal to all that the service has ever had.
type ServiceReports struct {
	Spent      policy.Amounts
	SpentTotal policy.Amounts
	Violations *Violations
}

// DefaultKillTimeout is the time between TERM and KILL of a service without its own.
const DefaultKillTimeout = 5 * time.Second

// newService returns the service id with the defaults of §9.3.
func newService(id string) Service {
	s := Service{ID: id}
	s.Restart = policy.Permanent
	s.KillTimeout, s.Notice.Readiness = DefaultKillTimeout, observe.ReadinessReady
	return s
}

// InOrder compares a and b by the order in which passes visit and start them (§22.1): by
// Order, and then by id.
func InOrder(a, b *Service) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
}

// sameService reports whether a and b have the same text. TestSameServiceNoticesEveryField checks
// that it is complete.
func sameService(a, b Service) bool {
	return a.ID == b.ID && a.ServiceSpec.same(b.ServiceSpec) &&
		a.ServiceStatus == b.ServiceStatus &&
		a.ServiceRecovery == b.ServiceRecovery && a.ServiceReports.same(b.ServiceReports) &&
		slices.Equal(a.Unknown, b.Unknown) && slices.Equal(a.Restarts, b.Restarts) &&
		a.nested == b.nested
}

func (s ServiceSpec) same(t ServiceSpec) bool {
	return s.Order == t.Order && s.StartInfo == t.StartInfo && s.Restart == t.Restart &&
		slices.Equal(s.DependenciesCompleted, t.DependenciesCompleted) &&
		s.Restartable == t.Restartable && s.OnDead == t.OnDead &&
		s.Significant == t.Significant && s.AlertOn == t.AlertOn && s.KeepEnded == t.KeepEnded &&
		s.KillTimeout == t.KillTimeout && slices.Equal(s.Dependencies, t.Dependencies)
}

func (s ServiceReports) same(t ServiceReports) bool {
	return slices.Equal(s.Spent, t.Spent) && slices.Equal(s.SpentTotal, t.SpentTotal) &&
		s.Violations == t.Violations
}
