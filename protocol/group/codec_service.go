package group

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// record reads or writes s (spec §9.3), which has an ID.
func (s *Service) record(c *wire.Codec) {
	if c.Reads() {
		c.Reader().CheckID(s.ID)
	}
	if c.Record(&s.Unknown, s.members, "state") {
		if !c.Had("restartable") {
			s.Restartable = s.StartInfo != nil
		}
	}
}

func (s *Service) members(c *wire.Codec) {
	c.Key("supervisorId", s.ID)
	c.Revision("order", &s.Order, wire.IfSet)
	startInfoMember(c, "startInfo", &s.StartInfo)
	c.Bool("restartable", &s.Restartable, wire.Always)
	wire.Word(c, "state", &s.State, "state", ServiceState.valid, wire.Always)
	c.IntOrNull("pid", &s.PID, wire.IfSet)
	c.TimeOrNull("lastHeartbeat", &s.LastHeartbeat, wire.IfSet)
	s.startMembers(c)
	s.Notice.Members(c)
	c.Int("restartAttempts", &s.RestartAttempts, 0, wire.Always)
	c.Int("retries", &s.Retries, 0, wire.IfSet)
	c.Int("persistentRow", &s.PersistentRow, 0, wire.IfSet)
	c.Times("restarts", &s.Restarts, wire.IfSet)
	c.TimeOrNull("lastRestartAttempt", &s.LastRestartAttempt, wire.IfSet)
	c.TimeOrNull("firstFailedAt", &s.FirstFailedAt, wire.IfSet)
	s.endMembers(c)
	c.Bool("heartbeats", &s.Heartbeats, wire.IfSet)
	s.Vitals.Members(c)
	c.TimeOrNull("startedAt", &s.StartedAt, wire.IfSet)
	c.Int("attempt", &s.Attempt, 0, wire.If(!s.StartedAt.IsZero()))
	c.Revision("generation", &s.Generation, wire.IfSet)
	s.StartedBeat.Member(c, "startedBeat", &s.nested)
	c.TimeOrNull("progressAt", &s.ProgressAt, wire.IfSet)
	s.ProgressBeat.Member(c, "progressBeat", &s.nested)
	asksMember(c, &s.Asked)
	wire.Pointer(c, "paused", &s.Paused, (*Pause).record)
	c.Milliseconds("pausedMs", &s.PausedFor, 0, wire.If(s.PausedFor != 0))
	wire.Pointer(c, "health", &s.Health, (*Health).record)
	c.Text("startId", &s.StartID, readStartID, wire.IfSet)
	s.Keeper.Member(c, "keeper", &s.nested)
	c.Int64("logDevice", &s.LogFile.Device, 0, wire.IfSet)
	c.Int64("logInode", &s.LogFile.Inode, 0, wire.IfSet)
	startInfoMember(c, "startedWith", &s.StartedWith)
	c.Bool("starting", &s.Starting, wire.IfSet)
	c.TimeOrNull("runningSince", &s.RunningSince, wire.IfSet)
	c.TimeOrNull("goneSince", &s.GoneSince, wire.IfSet)
	s.GoneBeat.Member(c, "goneBeat", &s.nested)
	c.TimeOrNull("failedAt", &s.FailedAt, wire.IfSet)
	c.TimeOrNull("nextAttemptAt", &s.NextAttemptAt, wire.IfSet)
	c.Bool("restartPending", &s.RestartPending, wire.IfSet)
	c.String("blockedBy", &s.BlockedBy, wire.IfSet)
	c.ID("restartCause", &s.RestartCause, wire.IfSet)
	wire.Pointer(c, "stopFor", &s.StopFor, (*StopFor).record)
	c.TimeOrNull("stopRequestedAt", &s.StopRequestedAt, wire.IfSet)
	c.String("stoppedBy", &s.StoppedBy, wire.IfSet)
	c.Bool("startAgain", &s.StartAgain, wire.IfSet)
	c.Bool("removeAfterStop", &s.RemoveAfterStop, wire.IfSet)
	c.TimeOrNull("termSentAt", &s.TermSentAt, wire.IfSet)
	s.TermSentBeat.Member(c, "termSentBeat", &s.nested)
	wire.Pointer(c, "silence", &s.Silence, (*Span).record)
	wire.Pointer(c, "maintenance", &s.Maintenance, (*Maintenance).record)
	s.Spent.Member(c, "spent")
	s.SpentTotal.Member(c, "spentTotal")
	violationsMember(c, &s.Violations)
	wire.Pointer(c, "ended", &s.Ended, (*policy.Exit).Record)
	wire.Pointer(c, "lastExit", &s.LastExit, (*policy.Exit).Record)
}

// startMembers are the members of s that say when a service is started, also in a services file
// (spec §31). Like those of endMembers, they are next to each other.
func (s *ServiceSpec) startMembers(c *wire.Codec) {
	wire.Word(c, "restart", &s.Restart, "restart type", policy.RestartType.Valid,
		wire.If(s.Restart != policy.Permanent))
	c.Texts("dependencies", &s.Dependencies, (*wire.Reader).ID, wire.Always)
	c.Texts("dependenciesCompleted", &s.DependenciesCompleted, (*wire.Reader).ID, wire.IfSet)
}

// endMembers are the members of s that say how a service is stopped, and what follows its end, also
// in a services file.
func (s *ServiceSpec) endMembers(c *wire.Codec) {
	c.Milliseconds("killTimeoutMs", &s.KillTimeout, 0, wire.If(s.KillTimeout != DefaultKillTimeout))
	usually(c, "onDead", &s.OnDead, "word", "alert", policy.OnDeadEscalate)
	c.Bool("significant", &s.Significant, wire.IfSet)
	usually(c, "alertOn", &s.AlertOn, "alertOn", "all", AlertOnFinal)
	c.Milliseconds("keepEndedMs", &s.KeepEnded, 1, wire.If(s.KeepEnded != 0))
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
	wire.Word(c, "budgetAction", &s.Budget.Action, "budgetAction", policy.BudgetAction.Valid, wire.IfSet)
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

// argvMember is a command with its arguments. Nil is not written.
func argvMember(c *wire.Codec, name string, argv *[]string) {
	if c.Strings(name, argv, wire.If(*argv != nil)) && (len(*argv) == 0 || (*argv)[0] == "") {
		c.Refuse("a command is expected")
	}
}

// readStartID reads the id of a start (spec §9.3).
func readStartID(r *wire.Reader) string {
	id := r.String()
	if !validStartID(id) {
		r.Refuse("%.40q is not 16 hexadecimal digits", id)
	}
	return id
}
