package group

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// DecodeOrchestrator returns the orchestrator in text, the content of an orchestrator file (spec
// §9.1). Its errors are those of wire.Decode.
func DecodeOrchestrator(text string) (Orchestrator, error) {
	return wire.Decode(text, 0, readOrchestrator)
}

// DecodeRegistry returns the registry in text, the content of a supervisors file (spec §9.2). Its
// errors are those of wire.Decode.
func DecodeRegistry(text string) (Registry, error) { return wire.Decode(text, 0, readRegistry) }

func readOrchestrator(r *wire.Reader) Orchestrator {
	o := Create("").Orchestrator
	r.Object(func(name string) {
		switch name {
		case "$schema":
			o.Schema = r.String()
		case "protocolVersion":
			o.ProtocolVersion = r.Version()
		case "orchestrationGroupId":
			o.GroupID = r.ID()
		case "revision":
			o.Revision = r.Revision()
		case "orchestratorPid":
			o.PID = int(r.IntOrNull())
		case "orchestratorHeartbeat":
			o.Heartbeat = r.TimeOrNull()
		case "state":
			o.State = wire.ReadWord(r, "state", OrchestratorState.valid)
		case "heartbeatIntervalMs":
			o.HeartbeatInterval = r.Milliseconds(1)
		case "stalenessThresholdMs":
			o.StalenessThreshold = r.Milliseconds(1)
		case "beat":
			o.Beat = observe.ReadBeat(r, &o.nested, name)
		case "periodMs":
			o.Period = r.Milliseconds(0)
		case "hostId":
			o.HostID = r.String()
		case "failover":
			o.Failover = r.Bool()
		case "checks":
			r.Object(func(id string) { o.Checks = append(o.Checks, readChecked(r, id)) })
			slices.SortFunc(o.Checks, func(a, b Checked) int { return cmp.Compare(a.Service, b.Service) })
		default:
			r.Unknown(&o.Unknown, name)
		}
	})

	r.Require("orchestrationGroupId", "state")
	return o
}

func readRegistry(r *wire.Reader) Registry {
	reg := Create("").Registry
	r.Object(func(name string) {
		switch name {
		case "$schema":
			reg.Schema = r.String()
		case "protocolVersion":
			reg.ProtocolVersion = r.Version()
		case "revision":
			reg.Revision = r.Revision()
		case "owner":
			reg.Owner = r.IDOrNull()
		case "supervision":
			reg.Supervision = readSupervision(r)
		case "supervisors":
			reg.Services = readRegistered(r)
		case "alertSeq":
			reg.AlertSeq = r.Revision()
		case "alertsGiven":
			reg.AlertsGiven = r.Revision()
		case "alertTries":
			reg.AlertTries = readAlertTries(r)
		case "alertsLost":
			r.Array(func() { reg.AlertsLost = append(reg.AlertsLost, r.Revision()) })
		case "pendingAlerts":
			reg.PendingAlerts = wire.ReadAll(r, (*Alert).read)
		case "events":
			reg.Events = wire.ReadAll(r, func(e *observe.Event, r *wire.Reader) { e.Record(r.Codec()) })
		case "audit":
			reg.Audit.Record(r.Codec())
		default:
			r.Unknown(&reg.Unknown, name)
		}
	})

	r.Require("supervisors")
	return reg
}

// readRegistered reads the services of a group. Most are like the first, so that says how many
// there are.
func readRegistered(r *wire.Reader) (all []Service) {
	const shortest = 256 // bytes that a service has in a file that DPL has written, or more
	start := r.Offset()
	r.Map(func(key string) {
		all = append(all, readService(r, key))
		if len(all) == 1 {
			rest := len(r.Text()) - r.Offset()
			all = slices.Grow(all, rest/max(r.Offset()-start, shortest))
		}
	})
	return all
}

func readService(r *wire.Reader, key string) Service {
	s := newService(key)
	r.CheckID(key)
	r.Object(func(name string) {
		switch name {
		case "supervisorId":
			r.Key(key)
		case "state":
			s.State = wire.ReadWord(r, "state", ServiceState.valid)
		case "pid":
			s.PID = int(r.IntOrNull())
		case "lastHeartbeat":
			s.LastHeartbeat = r.TimeOrNull()
		default:
			if !s.readSpec(r, name) && !s.ReadMember(r, name) && !s.Notice.ReadMember(r, name) &&
				!s.readStart(r, name) && !s.readRecovery(r, name) && !s.readReport(r, name) {
				r.Unknown(&s.Unknown, name)
			}
		}
	})

	r.Require("state")
	if !r.Had("restartable") {
		s.Restartable = s.StartInfo != nil
	}

	return s
}

// readSpec reads the member name, and reports whether it is one of a ServiceSpec: one that a
// services file may have (spec §31).
func (s *ServiceSpec) readSpec(r *wire.Reader, name string) bool {
	switch name {
	case "startInfo":
		s.StartInfo = readStartInfo(r)
	case "order":
		s.Order = r.Revision()
	case "restartable":
		s.Restartable = r.Bool()
	case "restart":
		s.Restart = wire.ReadWord(r, "restart type", RestartType.valid)
	case "dependencies":
		r.Array(func() { s.Dependencies = append(s.Dependencies, r.ID()) })
	case "dependenciesCompleted":
		r.Array(func() {
			s.DependenciesCompleted = append(s.DependenciesCompleted, r.ID())
		})
	case "killTimeoutMs":
		s.KillTimeout = r.Milliseconds(0)
	case "onDead":
		s.OnDead = readDefault(r, "alert", OnDeadEscalate)
	case "significant":
		s.Significant = r.Bool()
	case "alertOn":
		s.AlertOn = readAlertOn(r)
	case "keepEndedMs":
		s.KeepEnded = r.Milliseconds(1)
	default:
		return false
	}
	return true
}

func readAlertOn(r *wire.Reader) AlertOn {
	switch word := r.String(); AlertOn(word) {
	case "all":
	case AlertOnFinal:
		return AlertOnFinal
	default:
		r.Refuse("unknown alertOn %.40q", word)
	}
	return AlertOnAll
}

// readStart reads the member name, and reports whether it is one about a start or an end of s.
func (s *Service) readStart(r *wire.Reader, name string) bool {
	switch name {
	case "startedAt":
		s.StartedAt = r.TimeOrNull()
	case "attempt":
		s.Attempt = int(r.Int(0))
	case "generation":
		s.Generation = r.Revision()
	case "startedBeat":
		s.StartedBeat = observe.ReadBeat(r, &s.nested, name)
	case "progressAt":
		s.ProgressAt = r.TimeOrNull()
	case "progressBeat":
		s.ProgressBeat = observe.ReadBeat(r, &s.nested, name)
	case "asked":
		s.Asked = readAsks(r)
	case "paused":
		s.Paused = readPause(r)
	case "pausedMs":
		s.PausedFor = r.Milliseconds(0)
	case "health":
		s.Health = readHealth(r)
	case "startId":
		s.StartID = readStartID(r)
	case "keeper":
		s.Keeper = observe.ReadProcess(r, &s.nested, name)
	case "logDevice":
		s.LogFile.Device = r.Int(0)
	case "logInode":
		s.LogFile.Inode = r.Int(0)
	case "startedWith":
		s.StartedWith = readStartInfo(r)
	case "starting":
		s.Starting = r.Bool()
	case "runningSince":
		s.RunningSince = r.TimeOrNull()
	case "goneSince":
		s.GoneSince = r.TimeOrNull()
	case "goneBeat":
		s.GoneBeat = observe.ReadBeat(r, &s.nested, name)
	case "lastExit":
		s.LastExit = readExit(r)
	case "ended":
		s.Ended = readExit(r)
	default:
		return false
	}
	return true
}

// readRecovery reads the member name, and reports whether it is one of a ServiceRecovery.
func (s *Service) readRecovery(r *wire.Reader, name string) bool {
	switch name {
	case "restartAttempts":
		s.RestartAttempts = int(r.Int(0))
	case "retries":
		s.Retries = int(r.Int(0))
	case "restarts":
		r.Array(func() { s.Restarts = append(s.Restarts, r.Time()) })
	case "persistentRow":
		s.PersistentRow = int(r.Int(0))
	case "lastRestartAttempt":
		s.LastRestartAttempt = r.TimeOrNull()
	case "firstFailedAt":
		s.FirstFailedAt = r.TimeOrNull()
	case "failedAt":
		s.FailedAt = r.TimeOrNull()
	case "nextAttemptAt":
		s.NextAttemptAt = r.TimeOrNull()
	case "restartPending":
		s.RestartPending = r.Bool()
	case "blockedBy":
		s.BlockedBy = r.String()
	case "stopFor":
		s.StopFor = readStopFor(r)
	case "restartCause":
		s.RestartCause = r.ID()
	case "stopRequestedAt":
		s.StopRequestedAt = r.TimeOrNull()
	case "stoppedBy":
		s.StoppedBy = r.String()
	case "startAgain":
		s.StartAgain = r.Bool()
	case "removeAfterStop":
		s.RemoveAfterStop = r.Bool()
	case "termSentAt":
		s.TermSentAt = r.TimeOrNull()
	case "termSentBeat":
		s.TermSentBeat = observe.ReadBeat(r, &s.nested, name)
	case "silence":
		s.Silence = readSpan(r)
	case "maintenance":
		s.Maintenance = readMaintenance(r)
	default:
		return false
	}
	return true
}

// readReport reads the member name, and reports whether it is one of ServiceReports.
func (s *Service) readReport(r *wire.Reader, name string) bool {
	switch name {
	case "spent":
		s.Spent = readAmounts(r)
	case "spentTotal":
		s.SpentTotal = readAmounts(r)
	case "violations":
		s.Violations = readViolations(r)
	default:
		return false
	}
	return true
}

func readStartInfo(r *wire.Reader) *StartInfo {
	if r.Null() {
		return nil
	}

	s := StartInfo{
		Dir: "/", Readiness: observe.ReadinessReady, Policy: DefaultPolicy(),
		LogMax: DefaultLogMax, LogKeep: DefaultLogKeep,
	}

	r.Object(func(name string) {
		switch name {
		case "command":
			if s.Command = r.String(); s.Command == "" {
				r.Refuse("it is empty")
			}
		case "group":
			s.Group = r.ID()
		case "args":
			r.Array(func() { s.Args = append(s.Args, r.String()) })
		case "workingDirectory":
			s.Dir = r.String()
		case "environment":
			r.Object(func(name string) {
				s.Environment = append(s.Environment, Variable{name, r.String()})
			})
		case "environmentFile":
			if s.EnvironmentFile = r.String(); !strings.HasPrefix(s.EnvironmentFile, "/") {
				r.Refuse("an absolute path is expected")
			}
		case "readiness":
			s.Readiness = wire.ReadWord(r, "readiness", observe.Readiness.Valid)
		case "restartPolicy":
			s.Policy = readPolicy(r)
		case "exitStatus":
			s.ExitStatus = readExitStatus(r)
		case "logMaxBytes":
			if s.LogMax = r.Int(0); s.LogMax > 0 && s.LogMax < LeastLogMax {
				r.Refuse("it is less than %d, and not 0", LeastLogMax)
			}
		case "logKeep":
			s.LogKeep = int(r.Int(1))
		case "logEveryMs":
			s.LogEvery = r.Milliseconds(LeastLogEvery.Milliseconds())
		case "logCompress":
			s.LogCompress = r.Bool()
		case "preflight":
			s.Preflight = readArgv(r)
		case "preflightTimeoutMs":
			s.PreflightTimeout = r.Milliseconds(1)
		case "finish":
			s.Finish = readArgv(r)
		case "finishTimeoutMs":
			s.FinishTimeout = r.Milliseconds(1)
		case "runtimeSoftMs":
			s.RuntimeSoft = r.Milliseconds(1)
		case "runtimeMaxMs":
			s.RuntimeMax = r.Milliseconds(1)
		case "progressSoftMs":
			s.ProgressSoft = r.Milliseconds(1)
		case "progressMaxMs":
			s.ProgressMax = r.Milliseconds(1)
		case "softSignal":
			s.SoftSignal = wire.ReadWord(r, "softSignal", SignalName.soft)
		case "budget":
			if s.Budget.Limits = readAmounts(r); len(s.Budget.Limits) == 0 {
				r.Refuse("at least one amount is expected")
			}
		case "budgetAction":
			s.Budget.Action = wire.ReadWord(r, "budgetAction", BudgetAction.valid)
		default:
			if !s.Context.read(r, name) && !s.Health.read(r, name) {
				r.Unknown(&s.Unknown, name)
			}
		}
	})

	s.Context.check(r)
	if s.Group == "" {
		r.Require("command")
	} else if slices.ContainsFunc(ofCommand(), r.Had) {
		r.Refuse("either a command or a group is expected")
	}
	return &s
}

// ofCommand returns the members of a startInfo that say how a command is executed.
func ofCommand() []string {
	return []string{"command", "args", "workingDirectory", "environment", "environmentFile",
		"umask", "nofileSoft", "nofileHard", "nice", "oomScoreAdj", "health"}
}

func readPolicy(r *wire.Reader) RestartPolicy {
	p := DefaultPolicy()
	r.Object(func(name string) {
		switch name {
		case "maxAttempts":
			p.MaxAttempts = int(r.Int(Unlimited))
		case "backoffIntervalsMs":
			p.Backoff = nil
			r.Array(func() { p.Backoff = append(p.Backoff, r.Milliseconds(0)) })
			if len(p.Backoff) == 0 {
				r.Refuse("at least one interval is expected")
			}
		case "backoff":
			p.Exponential = readExponential(r)
		case "resetAfterMs":
			p.ResetAfter = r.Milliseconds(0)
		case "jitterPercent":
			p.JitterPercent = int(r.Int(0))
			if p.JitterPercent > 100 {
				r.Refuse("at most 100 is expected")
			}
		case "deadlineMs":
			p.Deadline = r.Milliseconds(1)
		case "intensity":
			p.Intensity = int(r.Int(0))
		case "intensityPeriodMs":
			p.IntensityPeriod = r.Milliseconds(1)
		default:
			r.Unknown(&p.Unknown, name)
		}
	})

	if r.Had("intensity") || r.Had("intensityPeriodMs") {
		r.Require("intensity", "intensityPeriodMs")
	}
	return p
}

func readExit(r *wire.Reader) *LastExit {
	e := &LastExit{}
	r.Object(func(name string) {
		if !e.readMember(r, name) {
			r.Unknown(&e.Unknown, name)
		}
	})

	r.Require("at")
	if e.Class == "" && e.Reason != reasonStopped && e.Reason != reasonSibling {
		e.Class = Failure
	}
	return e
}

// readMember reads the member name, and reports whether it is one of a LastExit.
func (e *LastExit) readMember(r *wire.Reader, name string) bool {
	switch name {
	case "at":
		e.At = r.Time()
	case "reason":
		e.Reason = r.String()
	case "code":
		e.Code = ExitCode(r.String())
	case "status":
		e.Status = int(r.Int(0))
	case "detail":
		e.Detail = r.String()
	case "class":
		e.Class = Class(r.String())
	case "error":
		e.Error = r.String()
	case "note":
		e.Note = r.String()
	case "oomKilled":
		e.OOMKilled = r.Bool()
	case "cpuMs":
		e.CPU = r.Milliseconds(0)
	case "maxRssKb":
		e.MaxRSS = r.Int(0)
	case "finishStatus":
		e.FinishStatus = r.String()
	default:
		return false
	}
	return true
}

// readStartID reads the id of a start (spec §9.3).
// readArgv reads a command with its arguments.
func readArgv(r *wire.Reader) (argv []string) {
	r.Array(func() { argv = append(argv, r.String()) })
	if len(argv) == 0 || argv[0] == "" {
		r.Refuse("a command is expected")
	}
	return argv
}

func readStartID(r *wire.Reader) string {
	id := r.String()
	if !validStartID(id) {
		r.Refuse("%.40q is not 16 hexadecimal digits", id)
	}
	return id
}

func (a *Alert) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "seq":
			if a.Seq = r.Revision(); a.Seq == 0 {
				r.Refuse("an alert is counted from 1")
			}
		case "type":
			a.Type = AlertType(r.String())
		case "supervisorId":
			a.ServiceID = r.ID()
		case "message":
			a.Message = r.String()
		case "timestamp":
			a.Timestamp = r.Time()
		case "silenced":
			a.Silenced = r.Bool()
		default:
			r.Unknown(&a.Unknown, name)
		}
	})

	r.Require("seq", "timestamp")
}
