package protocol

// DecodeOrchestrator returns the orchestrator in text, the content of an orchestrator file (spec
// §9.1). Its errors are those of Decode.
func DecodeOrchestrator(text string) (Orchestrator, error) {
	return decodeWhole(text, 0, (*decoder).orchestrator)
}

// DecodeRegistry returns the registry in text, the content of a supervisors file (spec §9.2). Its
// errors are those of Decode.
func DecodeRegistry(text string) (Registry, error) {
	return decodeWhole(text, 0, (*decoder).registry)
}

func (d *decoder) orchestrator() Orchestrator {
	o := CreateGroup("").Orchestrator
	hasState := false
	d.Object(func(name string) {
		switch name {
		case "protocolVersion":
			o.ProtocolVersion = d.version()
		case "orchestrationGroupId":
			o.GroupID = d.id()
		case "revision":
			o.Revision = d.revision()
		case "orchestratorPid":
			o.PID = int(d.intOrNull())
		case "orchestratorHeartbeat":
			o.Heartbeat = d.timeOrNull()
		case "state":
			hasState = true
			if o.State = OrchestratorState(d.String()); !o.State.valid() {
				d.fail("unknown state %.40q", string(o.State))
			}
		case "heartbeatIntervalMs":
			o.HeartbeatInterval = d.milliseconds(1)
		case "stalenessThresholdMs":
			o.StalenessThreshold = d.milliseconds(1)
		case "beat":
			o.Beat = d.beat(func() *[]Member { return &made(&o.nested).beat })
		case "periodMs":
			o.Period = d.milliseconds(0)
		default:
			d.unknown(&o.Unknown, name)
		}
	})

	d.require("orchestrationGroupId", o.GroupID != "")
	d.require("state", hasState)
	return o
}

func (d *decoder) registry() Registry {
	r := CreateGroup("").Registry
	hasSupervisors := false
	d.Object(func(name string) {
		switch name {
		case "protocolVersion":
			r.ProtocolVersion = d.version()
		case "revision":
			r.Revision = d.revision()
		case "owner":
			r.Owner = d.idOrNull()
		case "supervisors":
			hasSupervisors = true
			d.Object(func(key string) { r.Services = append(r.Services, d.registered(key)) })
		case "alertSeq":
			r.AlertSeq = d.revision()
		case "alertsGiven":
			r.AlertsGiven = d.revision()
		case "pendingAlerts":
			d.Array(func() { r.PendingAlerts = append(r.PendingAlerts, d.alert()) })
		case "events":
			d.Array(func() { r.Events = append(r.Events, d.event()) })
		default:
			d.unknown(&r.Unknown, name)
		}
	})

	d.require("supervisors", hasSupervisors)
	return r
}

func (d *decoder) registered(key string) Service {
	s := newService(key)
	hasState, hasRestartable := false, false
	d.checkID(key)
	d.Object(func(name string) {
		switch name {
		case "supervisorId":
			if id := d.String(); id != key {
				d.fail("supervisorId %.40q differs from its key", id)
			}
		case "startInfo":
			s.StartInfo = d.startInfo()
		case "restartable":
			hasRestartable = true
			s.Restartable = d.Bool()
		case "state":
			hasState = true
			if s.State = ServiceState(d.String()); !s.State.valid() {
				d.fail("unknown state %.40q", string(s.State))
			}
		case "pid":
			s.PID = int(d.intOrNull())
		case "lastHeartbeat":
			s.LastHeartbeat = d.timeOrNull()
		case "dependencies":
			d.Array(func() { s.Dependencies = append(s.Dependencies, d.id()) })
		case "readiness":
			s.Notice.Readiness = d.readiness()
		case "note":
			s.Notice.Note = d.String()
		case "restartAttempts":
			s.RestartAttempts = int(d.Int(0))
		case "lastRestartAttempt":
			s.LastRestartAttempt = d.timeOrNull()
		case "killTimeoutMs":
			s.KillTimeout = d.milliseconds(0)
		case "heartbeats":
			s.Heartbeats = d.Bool()
		case "process":
			s.Process = d.process(&s.nested)
		case "beat":
			s.Beat = d.beat(func() *[]Member { return &made(&s.nested).beat })
		case "grace":
			s.Grace = d.grace()
		case "startedAt":
			s.StartedAt = d.timeOrNull()
		case "attempt":
			s.Attempt = int(d.Int(0))
		case "startId":
			if s.StartID = d.String(); !validStartID(s.StartID) {
				d.fail("%.40q is not 16 hexadecimal digits", s.StartID)
			}
		case "keeper":
			s.Keeper = d.identity(func() *[]Member { return &made(&s.nested).keeper })
		case "startedWith":
			s.StartedWith = d.startInfo()
		case "starting":
			s.Starting = d.Bool()
		case "runningSince":
			s.RunningSince = d.timeOrNull()
		case "failedAt":
			s.FailedAt = d.timeOrNull()
		case "nextAttemptAt":
			s.NextAttemptAt = d.timeOrNull()
		case "restartPending":
			s.RestartPending = d.Bool()
		case "blockedBy":
			s.BlockedBy = d.String()
		case "stopRequestedAt":
			s.StopRequestedAt = d.timeOrNull()
		case "startAgain":
			s.StartAgain = d.Bool()
		case "termSentAt":
			s.TermSentAt = d.timeOrNull()
		case "termSentBeat":
			s.TermSentBeat = d.beat(func() *[]Member { return &made(&s.nested).told })
		case "lastExit":
			s.LastExit = d.exit()
		case "ended":
			s.Ended = d.exit()
		default:
			d.unknown(&s.Unknown, name)
		}
	})

	d.require("state", hasState)
	if !hasRestartable {
		s.Restartable = s.StartInfo != nil
	}

	return s
}

func (d *decoder) startInfo() *StartInfo {
	if d.Null() {
		return nil
	}

	s := StartInfo{
		Dir: "/", Readiness: ReadinessReady, Policy: DefaultPolicy(), LogMax: DefaultLogMax,
		LogKeep: DefaultLogKeep,
	}

	d.Object(func(name string) {
		switch name {
		case "command":
			if s.Command = d.String(); s.Command == "" {
				d.fail("it is empty")
			}
		case "args":
			d.Array(func() { s.Args = append(s.Args, d.String()) })
		case "workingDirectory":
			s.Dir = d.String()
		case "environment":
			d.Object(func(name string) {
				s.Environment = append(s.Environment,
					Variable{name, d.String()})
			})
		case "readiness":
			s.Readiness = d.readiness()
		case "restartPolicy":
			s.Policy = d.policy()
		case "logMaxBytes":
			if s.LogMax = d.Int(0); s.LogMax > 0 && s.LogMax < LeastLogMax {
				d.fail("it is less than %d, and not 0", LeastLogMax)
			}
		case "logKeep":
			s.LogKeep = int(d.Int(1))
		default:
			d.unknown(&s.Unknown, name)
		}
	})

	d.require("command", s.Command != "")
	return &s
}

func (d *decoder) policy() RestartPolicy {
	p := DefaultPolicy()
	d.Object(func(name string) {
		switch name {
		case "maxAttempts":
			p.MaxAttempts = int(d.Int(0))
		case "backoffIntervalsMs":
			p.Backoff = nil
			d.Array(func() { p.Backoff = append(p.Backoff, d.milliseconds(0)) })
			if len(p.Backoff) == 0 {
				d.fail("at least one interval is expected")
			}
		case "resetAfterMs":
			p.ResetAfter = d.milliseconds(0)
		default:
			d.unknown(&p.Unknown, name)
		}
	})

	return p
}

func (d *decoder) exit() *LastExit {
	e := &LastExit{}
	d.Object(func(name string) {
		switch name {
		case "at":
			e.At = d.time()
		case "reason":
			e.Reason = d.String()
		case "code":
			e.Code = ExitCode(d.String())
		case "status":
			e.Status = int(d.Int(0))
		case "error":
			e.Error = d.String()
		default:
			d.unknown(&e.Unknown, name)
		}
	})

	d.require("at", !e.At.IsZero())
	return e
}

func (d *decoder) alert() (a Alert) {
	d.Object(func(name string) {
		switch name {
		case "seq":
			if a.Seq = d.revision(); a.Seq == 0 {
				d.fail("an alert is counted from 1")
			}
		case "type":
			a.Type = AlertType(d.String())
		case "supervisorId":
			a.ServiceID = d.id()
		case "message":
			a.Message = d.String()
		case "timestamp":
			a.Timestamp = d.time()
		default:
			d.unknown(&a.Unknown, name)
		}
	})

	d.require("seq", a.Seq != 0)
	d.require("timestamp", !a.Timestamp.IsZero())
	return a
}
