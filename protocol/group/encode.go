package group

import (
	"io"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns the content of the orchestrator's file (spec §9.1).
func (o Orchestrator) Encode() string { return wire.Text(o.write) }

// WriteTo writes what Encode returns. Its errors are those of out.
func (o Orchestrator) WriteTo(out io.Writer) (int64, error) { return wire.Write(out, o.write) }

func (o Orchestrator) write(w *wire.Writer) {
	w.OptString("$schema", o.Schema)
	w.Int("protocolVersion", int64(o.ProtocolVersion))
	w.String("orchestrationGroupId", o.GroupID)
	w.Int("revision", o.Revision)
	w.OptInt("orchestratorPid", int64(o.PID))
	w.OptTime("orchestratorHeartbeat", o.Heartbeat)
	w.String("state", string(o.State))
	w.Milliseconds("heartbeatIntervalMs", o.HeartbeatInterval)
	w.Milliseconds("stalenessThresholdMs", o.StalenessThreshold)
	o.Beat.Write(w, "beat", o.nested)
	if o.Period != 0 {
		w.Milliseconds("periodMs", o.Period)
	}
	w.OptString("hostId", o.HostID)
	w.OptBool("failover", o.Failover)
	if len(o.Checks) > 0 {
		w.Object("checks", func(w *wire.Writer) {
			for _, c := range o.Checks {
				w.Object(c.Service, c.write)
			}
		})
	}

	w.Unknown(o.Unknown)
}

// Encode returns the content of the registry's file (spec §9.2).
func (r Registry) Encode() string { return wire.Text(r.write) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (r Registry) WriteTo(out io.Writer) (int64, error) { return wire.Write(out, r.write) }

func (r Registry) write(w *wire.Writer) {
	w.OptString("$schema", r.Schema)
	w.Int("protocolVersion", int64(r.ProtocolVersion))
	w.Int("revision", r.Revision)
	w.OptString("owner", r.Owner)
	r.Supervision.write(w)
	w.Object("supervisors", func(w *wire.Writer) {
		for i := range r.Services {
			w.Object(r.Services[i].ID, r.Services[i].write)
		}
	})

	w.OptInt("alertSeq", r.AlertSeq)
	if r.AlertsGiven != NoneGiven {
		w.Int("alertsGiven", r.AlertsGiven)
	}
	r.AlertTries.write(w)
	if len(r.AlertsLost) > 0 {
		w.Ints("alertsLost", r.AlertsLost)
	}
	if len(r.PendingAlerts) > 0 {
		wire.WriteAll(w, "pendingAlerts", r.PendingAlerts, (*Alert).write)
	}

	wire.WriteAll(w, "events", r.Events, func(e *observe.Event, w *wire.Writer) { e.Record(w.Codec()) })
	r.Audit.Member(w.Codec())
	w.Unknown(r.Unknown)
}

// Line returns the alert as a line of the alerts file of group (spec §11.7), with its newline. log
// is the path of the log of its service relative to the ledger, or "" if it concerns no service.
func (a Alert) Line(group, log string) string {
	return wire.Line(func(w *wire.Writer) {
		w.String("orchestrationGroupId", group)
		a.writeKnown(w)
		w.OptString("log", log)
		w.Unknown(slices.DeleteFunc(slices.Clone(a.Unknown), func(m wire.Member) bool {
			return m.Name == "orchestrationGroupId" || m.Name == "log" // a duplicate would not be valid JSON
		}))
	}) + "\n"
}

func (s *Service) write(w *wire.Writer) {
	w.String("supervisorId", s.ID)
	w.OptInt("order", s.Order)
	s.StartInfo.write(w, "startInfo")
	w.Bool("restartable", s.Restartable)
	w.String("state", string(s.State))
	w.OptInt("pid", int64(s.PID))
	w.OptTime("lastHeartbeat", s.LastHeartbeat)
	if s.Restart != Permanent {
		w.String("restart", string(s.Restart))
	}

	w.Strings("dependencies", s.Dependencies)
	if len(s.DependenciesCompleted) > 0 {
		w.Strings("dependenciesCompleted", s.DependenciesCompleted)
	}

	s.Notice.Write(w)
	w.Int("restartAttempts", int64(s.RestartAttempts))
	w.OptInt("retries", int64(s.Retries))
	w.OptInt("persistentRow", int64(s.PersistentRow))
	if len(s.Restarts) > 0 {
		w.Times("restarts", s.Restarts)
	}

	w.OptTime("lastRestartAttempt", s.LastRestartAttempt)
	w.OptTime("firstFailedAt", s.FirstFailedAt)
	if s.KillTimeout != DefaultKillTimeout {
		w.Milliseconds("killTimeoutMs", s.KillTimeout)
	}

	w.OptString("onDead", string(s.OnDead))
	w.OptBool("significant", s.Significant)
	w.OptString("alertOn", string(s.AlertOn))
	if s.KeepEnded != 0 {
		w.Milliseconds("keepEndedMs", s.KeepEnded)
	}

	w.OptBool("heartbeats", s.Heartbeats)
	s.Vitals.Write(w)
	if !s.StartedAt.IsZero() {
		w.Time("startedAt", s.StartedAt)
		w.Int("attempt", int64(s.Attempt))
	}

	w.OptInt("generation", s.Generation)
	s.StartedBeat.Write(w, "startedBeat", s.nested)
	w.OptTime("progressAt", s.ProgressAt)
	s.ProgressBeat.Write(w, "progressBeat", s.nested)
	s.Asked.write(w)
	s.Paused.write(w)
	if s.PausedFor != 0 {
		w.Milliseconds("pausedMs", s.PausedFor)
	}

	s.Health.write(w)
	w.OptString("startId", s.StartID)
	s.Keeper.Write(w, "keeper", s.nested)
	w.OptInt("logDevice", s.LogFile.Device)
	w.OptInt("logInode", s.LogFile.Inode)
	s.StartedWith.write(w, "startedWith")
	w.OptBool("starting", s.Starting)
	w.OptTime("runningSince", s.RunningSince)
	w.OptTime("goneSince", s.GoneSince)
	s.GoneBeat.Write(w, "goneBeat", s.nested)
	w.OptTime("failedAt", s.FailedAt)
	w.OptTime("nextAttemptAt", s.NextAttemptAt)
	w.OptBool("restartPending", s.RestartPending)
	w.OptString("blockedBy", s.BlockedBy)
	w.OptString("restartCause", s.RestartCause)
	s.StopFor.write(w)
	w.OptTime("stopRequestedAt", s.StopRequestedAt)
	w.OptString("stoppedBy", s.StoppedBy)
	w.OptBool("startAgain", s.StartAgain)
	w.OptBool("removeAfterStop", s.RemoveAfterStop)
	w.OptTime("termSentAt", s.TermSentAt)
	s.TermSentBeat.Write(w, "termSentBeat", s.nested)
	s.Silence.write(w, "silence")
	s.Maintenance.write(w)
	s.Spent.write(w, "spent")
	s.SpentTotal.write(w, "spentTotal")
	s.Violations.write(w)
	s.Ended.write(w, "ended")
	s.LastExit.write(w, "lastExit")
	w.Unknown(s.Unknown)
}

// write writes the member name, or nothing for nil.
func (e *LastExit) write(w *wire.Writer, name string) {
	if e == nil {
		return
	}

	w.Object(name, func(w *wire.Writer) {
		e.writeMembers(w)
		w.Unknown(e.Unknown)
	})
}

func (e *LastExit) writeMembers(w *wire.Writer) {
	w.Time("at", e.At)
	w.String("reason", e.Reason)
	w.OptString("detail", e.Detail)
	if e.Class != Failure {
		w.OptString("class", string(e.Class))
	}
	if e.Code != "" {
		w.String("code", string(e.Code))
		w.Int("status", int64(e.Status))
	}

	w.OptString("error", e.Error)
	w.OptString("note", e.Note)
	w.OptBool("oomKilled", e.OOMKilled)
	if e.CPU != 0 {
		w.Milliseconds("cpuMs", e.CPU)
	}
	w.OptInt("maxRssKb", e.MaxRSS)
	w.OptString("finishStatus", e.FinishStatus)
}

// write writes the member name, or nothing for nil.
func (s *StartInfo) write(w *wire.Writer, name string) {
	if s == nil {
		return
	}

	w.Object(name, func(w *wire.Writer) {
		s.writeWhat(w)

		s.Readiness.Member(w.Codec())
		w.Object("restartPolicy", s.Policy.write)
		s.ExitStatus.write(w)
		if s.LogMax != DefaultLogMax {
			w.Int("logMaxBytes", s.LogMax)
		}
		if s.LogKeep != DefaultLogKeep {
			w.Int("logKeep", int64(s.LogKeep))
		}
		if s.LogEvery != 0 {
			w.Milliseconds("logEveryMs", s.LogEvery)
		}
		w.OptBool("logCompress", s.LogCompress)
		if s.Preflight != nil {
			w.Strings("preflight", s.Preflight)
		}
		if s.PreflightTimeout != 0 {
			w.Milliseconds("preflightTimeoutMs", s.PreflightTimeout)
		}
		if s.Finish != nil {
			w.Strings("finish", s.Finish)
		}
		if s.FinishTimeout != 0 {
			w.Milliseconds("finishTimeoutMs", s.FinishTimeout)
		}
		s.Health.write(w)
		s.writeClocks(w)
		w.OptString("softSignal", string(s.SoftSignal))

		s.Budget.Limits.write(w, "budget")
		w.OptString("budgetAction", string(s.Budget.Action))

		w.Unknown(s.Unknown)
	})
}

// writeWhat writes what is started.
func (s *StartInfo) writeWhat(w *wire.Writer) {
	if s.Group != "" {
		w.String("group", s.Group)
		return
	}
	w.String("command", s.Command)
	w.Strings("args", s.Args)
	w.String("workingDirectory", s.Dir)
	w.Object("environment", func(w *wire.Writer) {
		for _, v := range s.Environment {
			w.String(v.Name, v.Value)
		}
	})
	w.OptString("environmentFile", s.EnvironmentFile)
	s.Context.write(w)
}

func (s *StartInfo) writeClocks(w *wire.Writer) {
	for _, c := range []struct {
		name string
		d    time.Duration
	}{
		{"runtimeSoftMs", s.RuntimeSoft}, {"runtimeMaxMs", s.RuntimeMax},
		{"progressSoftMs", s.ProgressSoft}, {"progressMaxMs", s.ProgressMax},
	} {
		if c.d != 0 {
			w.Milliseconds(c.name, c.d)
		}
	}
}

func (p *RestartPolicy) write(w *wire.Writer) {
	w.Int("maxAttempts", int64(p.MaxAttempts))
	if !p.Exponential.isSet() || !slices.Equal(p.Backoff, DefaultBackoff()) {
		w.AllMilliseconds("backoffIntervalsMs", p.Backoff)
	}

	p.Exponential.write(w)
	w.OptInt("jitterPercent", int64(p.JitterPercent))
	if p.Deadline != 0 {
		w.Milliseconds("deadlineMs", p.Deadline)
	}
	w.Milliseconds("resetAfterMs", p.ResetAfter)
	if p.IntensityPeriod != 0 {
		w.Int("intensity", int64(p.Intensity))
		w.Milliseconds("intensityPeriodMs", p.IntensityPeriod)
	}

	w.Unknown(p.Unknown)
}

func (a *Alert) write(w *wire.Writer) {
	a.writeKnown(w)
	w.Unknown(a.Unknown)
}

func (a *Alert) writeKnown(w *wire.Writer) {
	w.Int("seq", a.Seq)
	w.String("type", string(a.Type))
	w.OptString("supervisorId", a.ServiceID)
	w.String("message", a.Message)
	w.Time("timestamp", a.Timestamp)
	w.OptBool("silenced", a.Silenced)
}
