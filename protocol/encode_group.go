package protocol

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns the content of the orchestrator's file (spec §9.1).
func (o Orchestrator) Encode() string {
	var w encoder
	w.open('{')
	w.int("protocolVersion", int64(o.ProtocolVersion))
	w.string("orchestrationGroupId", o.GroupID)
	w.int("revision", o.Revision)
	w.pid("orchestratorPid", o.PID)
	w.timeUnlessZero("orchestratorHeartbeat", o.Heartbeat)
	w.string("state", string(o.State))
	w.milliseconds("heartbeatIntervalMs", o.HeartbeatInterval)
	w.milliseconds("stalenessThresholdMs", o.StalenessThreshold)
	w.beat("beat", o.Beat, o.nested.ofBeat())
	if o.Period != 0 {
		w.milliseconds("periodMs", o.Period)
	}

	w.unknown(o.Unknown)
	w.close('}')

	return string(append(w.buf, '\n'))
}

// Encode returns the content of the registry's file (spec §9.2).
func (r Registry) Encode() string {
	var w encoder
	w.open('{')
	w.int("protocolVersion", int64(r.ProtocolVersion))
	w.int("revision", r.Revision)
	w.text("owner", r.Owner)
	w.name("supervisors")
	w.open('{')

	for i := range r.Services {
		w.name(r.Services[i].ID)
		w.registered(&r.Services[i])
	}

	w.close('}')
	if r.AlertSeq != 0 {
		w.int("alertSeq", r.AlertSeq)
	}
	if r.AlertsGiven != NoneGiven {
		w.int("alertsGiven", r.AlertsGiven)
	}

	if len(r.PendingAlerts) > 0 {
		w.name("pendingAlerts")
		w.array(len(r.PendingAlerts), func(i int) { w.alert(&r.PendingAlerts[i]) })
	}

	w.name("events")
	w.array(len(r.Events), func(i int) { w.event(&r.Events[i]) })
	w.unknown(r.Unknown)
	w.close('}')

	return string(append(w.buf, '\n'))
}

// Line returns the alert as a line of the alerts file of group (spec §11.7), with its newline. log
// is the path of the log of its service relative to the ledger, or "" if it concerns no service.
func (a Alert) Line(group, log string) string {
	var w encoder
	w.open('{')
	w.string("orchestrationGroupId", group)
	w.alertMembers(&a)
	w.text("log", log)
	w.unknown(slices.DeleteFunc(slices.Clone(a.Unknown), func(m Member) bool {
		return m.Name == "orchestrationGroupId" || m.Name == "log" // a duplicate would not be valid JSON
	}))

	w.close('}')
	line := jsontext.Value(w.buf)
	_ = line.Compact() // this encoder has written it

	return string(line) + "\n"
}

func (w *encoder) registered(s *Service) {
	w.open('{')
	w.string("supervisorId", s.ID)
	if s.StartInfo != nil {
		w.name("startInfo")
		w.startInfo(s.StartInfo)
	}

	w.bool("restartable", s.Restartable)
	w.string("state", string(s.State))
	w.pid("pid", s.PID)
	w.timeUnlessZero("lastHeartbeat", s.LastHeartbeat)
	w.name("dependencies")
	w.strings(s.Dependencies)
	w.notice(s.Notice)
	w.int("restartAttempts", int64(s.RestartAttempts))
	w.timeUnlessZero("lastRestartAttempt", s.LastRestartAttempt)
	if s.KillTimeout != DefaultKillTimeout {
		w.milliseconds("killTimeoutMs", s.KillTimeout)
	}

	w.set("heartbeats", s.Heartbeats)
	w.process(s.Process, s.nested)
	w.beat("beat", s.Beat, s.nested.ofBeat())
	w.grace(s.Grace)
	if !s.StartedAt.IsZero() {
		w.time("startedAt", s.StartedAt)
		w.int("attempt", int64(s.Attempt))
	}

	w.text("startId", s.StartID)
	w.identity("keeper", s.Keeper, s.nested.ofKeeper())
	if s.StartedWith != nil {
		w.name("startedWith")
		w.startInfo(s.StartedWith)
	}

	w.set("starting", s.Starting)
	w.timeUnlessZero("runningSince", s.RunningSince)
	w.timeUnlessZero("failedAt", s.FailedAt)
	w.timeUnlessZero("nextAttemptAt", s.NextAttemptAt)
	w.set("restartPending", s.RestartPending)
	w.text("blockedBy", s.BlockedBy)
	w.timeUnlessZero("stopRequestedAt", s.StopRequestedAt)
	w.set("startAgain", s.StartAgain)
	w.timeUnlessZero("termSentAt", s.TermSentAt)
	w.beat("termSentBeat", s.TermSentBeat, s.nested.ofTold())
	w.exit("ended", s.Ended)
	w.exit("lastExit", s.LastExit)
	w.unknown(s.Unknown)
	w.close('}')
}

// exit appends nothing if e is nil.
func (w *encoder) exit(name string, e *LastExit) {
	if e == nil {
		return
	}

	w.name(name)
	w.open('{')
	w.time("at", e.At)
	w.string("reason", e.Reason)
	if e.Code != "" {
		w.string("code", string(e.Code))
		w.int("status", int64(e.Status))
	}

	w.text("error", e.Error)
	w.unknown(e.Unknown)
	w.close('}')
}

func (w *encoder) startInfo(s *StartInfo) {
	w.open('{')
	w.string("command", s.Command)
	w.name("args")
	w.strings(s.Args)
	w.string("workingDirectory", s.Dir)
	w.name("environment")
	w.open('{')
	for _, v := range s.Environment {
		w.string(v.Name, v.Value)
	}

	w.close('}')
	w.readiness(s.Readiness)
	w.name("restartPolicy")
	w.open('{')
	w.int("maxAttempts", int64(s.Policy.MaxAttempts))
	w.name("backoffIntervalsMs")
	w.array(len(s.Policy.Backoff), func(i int) { w.number(s.Policy.Backoff[i].Milliseconds()) })
	w.milliseconds("resetAfterMs", s.Policy.ResetAfter)
	w.unknown(s.Policy.Unknown)
	w.close('}')
	if s.LogMax != DefaultLogMax {
		w.int("logMaxBytes", s.LogMax)
	}
	if s.LogKeep != DefaultLogKeep {
		w.int("logKeep", int64(s.LogKeep))
	}

	w.unknown(s.Unknown)
	w.close('}')
}

func (w *encoder) alert(a *Alert) {
	w.open('{')
	w.alertMembers(a)
	w.unknown(a.Unknown)
	w.close('}')
}

func (w *encoder) alertMembers(a *Alert) {
	w.int("seq", a.Seq)
	w.string("type", string(a.Type))
	w.text("supervisorId", a.ServiceID)
	w.string("message", a.Message)
	w.time("timestamp", a.Timestamp)
}

func (w *encoder) pid(name string, pid int) {
	if pid != 0 {
		w.int(name, int64(pid))
	}
}

// set appends true if b is true, and otherwise nothing.
func (w *encoder) set(name string, b bool) {
	if b {
		w.bool(name, true)
	}
}

func (w *encoder) timeUnlessZero(name string, t time.Time) {
	if !t.IsZero() {
		w.time(name, t)
	}
}

func (w *encoder) strings(all []string) {
	w.array(len(all), func(i int) { w.quote(all[i]) })
}
