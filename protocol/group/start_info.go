package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

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
	// (groups.md §11.6); "": none.
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

// A SignalName is a signal that a pass sends: one of these, or the soft signal of a service.
type SignalName string

const (
	Term SignalName = "TERM"
	Kill SignalName = "KILL"
	Stop SignalName = "STOP" // it is paused
	Cont SignalName = "CONT" // it goes on
)

// soft reports whether a service may have n as its soft signal: one that has the same number on all
// systems, because another host may judge a death by it, and that does not stop the service anyway
// (supervision.md §26.4).
func (n SignalName) soft() bool {
	return slices.Contains([]SignalName{"HUP", "INT", "QUIT", "ALRM"}, n)
}

// The defaults of a StartInfo.
const (
	DefaultLogMax  = 10 << 20 // bytes
	DefaultLogKeep = 3

	DefaultPreflightTimeout = 10 * time.Second
	DefaultFinishTimeout    = 5 * time.Second
)

// LeastLogMax is the smallest size, in bytes, at which a log is rotated.
const LeastLogMax = 64 << 10

// LeastLogEvery is the shortest time after which a log is rotated.
const LeastLogEvery = time.Minute

// HasClock reports whether the ages of a process started with i matter (§26.2, §26.5).
func (i *StartInfo) HasClock() bool {
	return i != nil && (i.RuntimeSoft+i.RuntimeMax+i.ProgressSoft+i.ProgressMax != 0 ||
		i.Health.Command != nil)
}

// startsAs reports whether a process started with t does the same as one started with s. Members
// used only by passes, such as the policy, may differ: they apply at once.
func (s *StartInfo) startsAs(t *StartInfo) bool {
	return s.Command == t.Command && s.Group == t.Group && slices.Equal(s.Args, t.Args) &&
		s.Dir == t.Dir && s.EnvironmentFile == t.EnvironmentFile && s.Context == t.Context &&
		sameVariables(s.Environment, t.Environment)
}

func (s *StartInfo) equal(t *StartInfo) bool {
	return s.Command == t.Command && s.Group == t.Group && slices.Equal(s.Args, t.Args) &&
		s.Dir == t.Dir && s.EnvironmentFile == t.EnvironmentFile && s.Context == t.Context &&
		slices.Equal(s.Environment, t.Environment) && s.Readiness == t.Readiness &&
		s.LogMax == t.LogMax && s.LogKeep == t.LogKeep && s.LogEvery == t.LogEvery &&
		s.LogCompress == t.LogCompress && s.sameClocks(t) &&
		s.Budget.Equal(t.Budget) && slices.Equal(s.Unknown, t.Unknown) &&
		s.ExitStatus.Equal(t.ExitStatus) && slices.Equal(s.Preflight, t.Preflight) &&
		s.PreflightTimeout == t.PreflightTimeout && slices.Equal(s.Finish, t.Finish) &&
		s.FinishTimeout == t.FinishTimeout && s.Health.equal(t.Health) &&
		s.Policy.MaxAttempts == t.Policy.MaxAttempts &&
		slices.Equal(s.Policy.Backoff, t.Policy.Backoff) &&
		s.Policy.ResetAfter == t.Policy.ResetAfter &&
		s.Policy.Exponential.Equal(t.Policy.Exponential) &&
		s.Policy.JitterPercent == t.Policy.JitterPercent &&
		s.Policy.Deadline == t.Policy.Deadline &&
		s.Policy.Intensity == t.Policy.Intensity &&
		s.Policy.IntensityPeriod == t.Policy.IntensityPeriod &&
		slices.Equal(s.Policy.Unknown, t.Policy.Unknown)
}

func (s *StartInfo) sameClocks(t *StartInfo) bool {
	return s.RuntimeSoft == t.RuntimeSoft && s.RuntimeMax == t.RuntimeMax &&
		s.ProgressSoft == t.ProgressSoft && s.ProgressMax == t.ProgressMax &&
		s.SoftSignal == t.SoftSignal
}

func (s *StartInfo) record(c *wire.Codec) {
	if c.Reads() {
		*s = StartInfo{
			Dir: "/", Readiness: observe.ReadinessReady, Policy: policy.DefaultPolicy(),
			LogMax: DefaultLogMax, LogKeep: DefaultLogKeep,
		}
	}
	if !c.Record(&s.Unknown, s.members) {
		return
	}

	s.Context.check(c)
	if s.Group == "" {
		c.Require("command")
	} else if slices.ContainsFunc(ofCommand(), c.Had) {
		c.Refuse("either a command or a group is expected")
	}
}

// ofCommand returns the members of a startInfo that say how a command is executed.
func ofCommand() []string {
	return []string{"command", "args", "workingDirectory", "environment", "environmentFile",
		"umask", "nofileSoft", "nofileHard", "nice", "oomScoreAdj", "health"}
}

func (s *StartInfo) members(c *wire.Codec) {
	c.ID("group", &s.Group, wire.IfSet)
	if c.Reads() || s.Group == "" {
		s.commandMembers(c)
	}
	s.Readiness.Member(c)
	c.Object("restartPolicy", s.Policy.Record, wire.Always)
	s.ExitStatus.Member(c)
	if c.Int64("logMaxBytes", &s.LogMax, 0, wire.If(s.LogMax != DefaultLogMax)) &&
		s.LogMax > 0 && s.LogMax < LeastLogMax {
		c.Refuse("it is less than %d, and not 0", LeastLogMax)
	}
	c.Int("logKeep", &s.LogKeep, 1, wire.If(s.LogKeep != DefaultLogKeep))
	c.Milliseconds("logEveryMs", &s.LogEvery, LeastLogEvery.Milliseconds(),
		wire.If(s.LogEvery != 0))
	c.Bool("logCompress", &s.LogCompress, wire.IfSet)
	argvMember(c, "preflight", &s.Preflight)
	c.Milliseconds("preflightTimeoutMs", &s.PreflightTimeout, 1, wire.If(s.PreflightTimeout != 0))
	argvMember(c, "finish", &s.Finish)
	c.Milliseconds("finishTimeoutMs", &s.FinishTimeout, 1, wire.If(s.FinishTimeout != 0))
	s.Health.members(c)
	c.Milliseconds("runtimeSoftMs", &s.RuntimeSoft, 1, wire.If(s.RuntimeSoft != 0))
	c.Milliseconds("runtimeMaxMs", &s.RuntimeMax, 1, wire.If(s.RuntimeMax != 0))
	c.Milliseconds("progressSoftMs", &s.ProgressSoft, 1, wire.If(s.ProgressSoft != 0))
	c.Milliseconds("progressMaxMs", &s.ProgressMax, 1, wire.If(s.ProgressMax != 0))
	wire.Word(c, "softSignal", &s.SoftSignal, "softSignal", SignalName.soft, wire.IfSet)
	if s.Budget.Limits.Member(c, "budget") && len(s.Budget.Limits) == 0 {
		c.Refuse("at least one amount is expected")
	}
	wire.Word(c, "budgetAction", &s.Budget.Action, "budgetAction", policy.BudgetAction.Valid,
		wire.IfSet)
}

// commandMembers are those that say how a command is executed.
func (s *StartInfo) commandMembers(c *wire.Codec) {
	if c.String("command", &s.Command, wire.Always) && s.Command == "" {
		c.Refuse("it is empty")
	}
	c.Strings("args", &s.Args, wire.Always)
	c.String("workingDirectory", &s.Dir, wire.Always)
	c.Own("environment", s.readEnvironment, s.writeEnvironment, wire.Always)
	if c.String("environmentFile", &s.EnvironmentFile, wire.IfSet) &&
		!strings.HasPrefix(s.EnvironmentFile, "/") {
		c.Refuse("an absolute path is expected")
	}
	s.Context.members(c)
}

func (s *StartInfo) readEnvironment(r *wire.Reader) {
	r.Object(func(name string) {
		s.Environment = append(s.Environment, Variable{name, r.String()})
	})
}

func (s *StartInfo) writeEnvironment(w *wire.Writer) {
	w.Object("environment", func(w *wire.Writer) {
		for _, v := range s.Environment {
			w.String(v.Name, v.Value)
		}
	})
}

// startInfoMember is the member name, for which null means the same as if it is missing.
func startInfoMember(c *wire.Codec, name string, p **StartInfo) {
	if c.At(name) {
		c.Own(name, func(r *wire.Reader) {
			if !r.Null() {
				*p = &StartInfo{}
				(*p).record(r.Codec())
			}
		}, func(w *wire.Writer) {
			w.Object(name, func(w *wire.Writer) { (*p).record(w.Codec()) })
		}, wire.If(*p != nil))
	}
}
