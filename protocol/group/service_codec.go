package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns s as the registry has it (groups.md §9.3), without white space.
func (s *Service) Encode() string { return wire.Line(wire.Record(s.record)) }

// record reads or writes s (§9.3), which has an ID.
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
// (supervision.md §31). Like those of endMembers, they are next to each other.
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
