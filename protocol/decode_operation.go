package protocol

import "slices"

// No edit makes a revision, or the number of an alert, above lastRevision; a reader accepts twice
// that. So the result of an edit can always be read, even if a pass counts further by a few.
const (
	lastRevision = 1 << 61
	maxRevision  = 1 << 62
)

func (d *decoder) operation() Operation {
	op := Create("", 0, 0)
	op.source = &source{text: d.Text()}
	var hasState, hasStack bool
	d.Object(func(name string) {
		switch name {
		case "protocolVersion":
			op.ProtocolVersion = d.version()
		case "operationId":
			op.ID = d.id()
		case "revision":
			op.Revision = d.revision()
		case "state":
			hasState = true
			if op.State = State(d.String()); !op.State.valid() {
				d.fail("unknown state %.40q", string(op.State))
			}
		case "lastHeartbeat":
			op.LastHeartbeat = d.time()
		case "aborted":
			op.Aborted = d.Bool()
		case "heartbeatIntervalMs":
			op.HeartbeatInterval = d.milliseconds(1)
		case "stalenessThresholdMs":
			op.StalenessThreshold = d.milliseconds(1)
		case "terminalAt":
			op.TerminalAt = d.timeOrNull()
		case "terminalHeartbeats":
			op.TerminalHeartbeats = int(d.Int(0))
		case "stack":
			hasStack = true
			op.Stack = d.stack(op.source)
		case "supervisorHeartbeats":
			start := d.Offset()
			op.Supervisors = d.supervisors()
			op.source.supervisorsText = d.Since(start)
		case "transitions":
			start := d.Offset()
			op.Transitions = d.transitions()
			op.source.transitionsText = d.Since(start)
		case "events":
			start := d.Offset()
			d.Array(func() { op.Events = append(op.Events, d.event()) })
			op.source.eventsText = d.Since(start)
		default:
			d.unknown(&op.Unknown, name)
		}
	})

	d.require("operationId", op.ID != "")
	d.require("state", hasState)
	d.require("lastHeartbeat", !op.LastHeartbeat.IsZero())
	d.require("stack", hasStack)
	op.source.supervisors, op.source.transitions, op.source.events = op.Supervisors, op.Transitions, op.Events

	return op
}

func (d *decoder) version() int {
	version := int(d.Int(1))
	if version > Version {
		d.Fail(ErrNewerVersion, "protocolVersion %d: this program understands %d: update it",
			version, Version)
	}
	return version
}

// revision reads a number that grows by one with each edit or alert.
func (d *decoder) revision() int64 {
	revision := d.Int(0)
	if revision > maxRevision {
		d.fail("a number of at most %d is expected", int64(maxRevision))
	}
	return revision
}

// cameFrom records that f was decoded from src.text[start:end].
func (f *Frame) cameFrom(src *source, start, end int) {
	f.source, f.start, f.end, f.decoded = src, int32(start), int32(end), f
}

func (d *decoder) stack(src *source) (frames []*Frame) {
	var slab []Frame
	d.Array(func() {
		if len(slab) == cap(slab) {
			slab = make([]Frame, 0, min(64, 4+2*len(frames)))
			frames = slices.Grow(frames, cap(slab))
		}

		slab = slab[:len(slab)+1]
		f, start := &slab[len(slab)-1], d.Offset()
		d.frame(f)
		f.cameFrom(src, start, d.Offset())
		frames = append(frames, f)
	})

	d.checkUnique(frames)
	return frames
}

// checkUnique returns an error for a call id that occurs twice.
func (d *decoder) checkUnique(frames []*Frame) {
	calls := make(map[string]struct{}, len(frames))
	for _, f := range frames {
		if _, has := calls[f.CallID]; has {
			d.FailMember(int(f.start)+1, "callId", ErrCorrupt, "%q occurs twice", f.CallID)
			return
		}
		calls[f.CallID] = struct{}{}
	}
}

func (d *decoder) frame(f *Frame) {
	f.State, f.FailOnCrash = FrameActive, true
	d.Object(func(name string) {
		switch name {
		case "participantId":
			f.ParticipantID = d.id()
		case "callId":
			f.CallID = d.id()
		case "callerId":
			f.CallerID = d.id()
		case "pid":
			f.PID = int(d.Int(0))
		case "startTime":
			f.StartTime = d.time()
		case "lastHeartbeat":
			f.LastHeartbeat = d.time()
		case "state":
			f.State = d.frameState()
		case "supervisorId":
			f.SupervisorID = d.idOrNull()
		case "supervisorHandle":
			f.SupervisorHandle = d.orNull()
		case "description":
			f.Description = d.String()
		case "readiness":
			f.notice().Readiness = d.readiness()
		case "note":
			f.notice().Note = d.String()
		case "failOnCrash":
			f.FailOnCrash = d.Bool()
		case "heartbeats":
			f.Heartbeats = d.Bool()
		case "resources":
			d.Array(func() { f.Resources = append(f.Resources, d.String()) })
		case "leftResources":
			f.crash().LeftResources = d.leftResources()
		case "process":
			f.Process = d.process(&f.nested)
		case "beat":
			f.Beat = d.beat(func() *[]Member { return &made(&f.nested).beat })
		case "grace":
			f.Grace = d.grace()
		case "crashedAt":
			f.crash().At = d.time()
		case "detectedBy":
			f.crash().DetectedBy = d.String()
		case "evidence":
			f.crash().Evidence = Evidence(d.String())
		case "staleForMs":
			f.crash().StaleFor = d.milliseconds(0)
		case "previousState":
			f.crash().PreviousState = d.frameState()
		case "reportedAt":
			f.crash().ReportedAt = d.time()
		case "reportedBeat":
			f.crash().ReportedBeat = d.beat(func() *[]Member { return &made(&f.nested).told })
		case "handlingBy":
			f.crash().HandlingBy = d.handling()
		default:
			d.unknown(&f.Unknown, name)
		}
	})

	d.require("participantId", f.ParticipantID != "")
	d.require("callId", f.CallID != "")
	d.require("lastHeartbeat", !f.LastHeartbeat.IsZero())
	if f.StartTime.IsZero() {
		f.StartTime = f.LastHeartbeat
	}
}

// crash returns f.Crash, and creates it if necessary.
func (f *Frame) crash() *Crash {
	if f.Crash == nil {
		f.Crash = &Crash{}
	}
	return f.Crash
}

func (d *decoder) frameState() FrameState {
	s := FrameState(d.String())
	if !s.valid() {
		d.fail("unknown frame state %.40q", string(s))
	}
	return s
}

func (d *decoder) leftResources() (left []LeftResource) {
	d.Array(func() {
		var l LeftResource
		d.Object(func(name string) {
			switch name {
			case "path":
				l.Path = d.String()
			case "error":
				l.Error = d.String()
			default:
				d.unknown(&l.Unknown, name)
			}
		})

		left = append(left, l)
	})

	return left
}

// made returns *n, and creates it if necessary.
func made(n **nestedUnknown) *nestedUnknown {
	if *n == nil {
		*n = &nestedUnknown{}
	}
	return *n
}

func (d *decoder) process(nested **nestedUnknown) Process {
	return d.identity(func() *[]Member { return &made(nested).process })
}

// identity reads the identity of a process. Unknown members go to unknown.
func (d *decoder) identity(unknown func() *[]Member) (p Process) {
	d.Object(func(name string) {
		switch name {
		case "pid":
			p.PID = int(d.Int(0))
		case "hostId":
			p.HostID = d.String()
		case "bootId":
			p.BootID = d.String()
		case "pidNamespace":
			p.PIDNamespace = d.String()
		case "startTicks":
			p.StartTicks = d.Int(0)
		default:
			d.unknown(unknown(), name)
		}
	})

	return p
}

// beat reads a beat. Unknown members go to unknown.
func (d *decoder) beat(unknown func() *[]Member) (b Beat) {
	d.Object(func(name string) {
		switch name {
		case "bootId":
			b.BootID = d.String()
		case "monotonicMs":
			b.MonotonicMs = d.Int(0)
		case "at":
			b.At = d.time()
		default:
			d.unknown(unknown(), name)
		}
	})

	return b
}

func (d *decoder) handling() *Handling {
	h := &Handling{}
	d.Object(func(name string) {
		switch name {
		case "pid":
			h.PID = int(d.Int(0))
		case "process":
			h.Process = d.process(&h.nested)
		case "at":
			h.At = d.time()
		default:
			d.unknown(&h.Unknown, name)
		}
	})

	d.require("at", !h.At.IsZero())
	return h
}

func (d *decoder) supervisors() (all []Supervisor) {
	d.Object(func(key string) {
		s := Supervisor{Status: Alive, OrphanPolicy: OrphanCrash}
		d.checkID(key)
		d.Object(func(name string) {
			switch name {
			case "supervisorId":
				if s.ID = d.String(); s.ID != key {
					d.fail("supervisorId %.40q differs from its key", s.ID)
				}
			case "pid":
				s.PID = int(d.Int(0))
			case "lastHeartbeat":
				s.LastHeartbeat = d.time()
			case "status":
				if s.Status = Status(d.String()); s.Status != Alive && s.Status != Dead {
					d.fail("unknown status %.40q", string(s.Status))
				}
			case "orphanPolicy":
				if s.OrphanPolicy = OrphanPolicy(d.String()); s.OrphanPolicy != OrphanCrash &&
					s.OrphanPolicy != OrphanKeep {
					d.fail("unknown orphanPolicy %.40q", string(s.OrphanPolicy))
				}
			case "heartbeats":
				s.Heartbeats = d.Bool()
			case "process":
				s.Process = d.process(&s.nested)
			case "beat":
				s.Beat = d.beat(func() *[]Member { return &made(&s.nested).beat })
			case "grace":
				s.Grace = d.grace()
			default:
				d.unknown(&s.Unknown, name)
			}
		})

		d.require("lastHeartbeat", !s.LastHeartbeat.IsZero())
		s.ID = key
		all = append(all, s)
	})

	return all
}

func (d *decoder) transitions() (all []Transition) {
	d.Array(func() { all = append(all, d.transition()) })
	return all
}

func (d *decoder) transition() (t Transition) {
	d.Object(func(name string) {
		switch name {
		case "revision":
			t.Revision = d.Int(0)
		case "from":
			t.From = State(d.String())
		case "to":
			t.To = State(d.String())
		case "at":
			t.At = d.time()
		case "by":
			t.By = d.String()
		case "reason":
			t.Reason = d.String()
		default:
			d.unknown(&t.Unknown, name)
		}
	})

	return t
}

func (d *decoder) event() (e Event) {
	d.Object(func(name string) {
		switch name {
		case "revision":
			e.Revision = d.Int(0)
		case "at":
			e.At = d.time()
		case "type":
			e.Type = EventType(d.String())
		case "callId":
			e.CallID = d.id()
		case "callerId":
			e.CallerID = d.id()
		case "supervisorId":
			e.SupervisorID = d.id()
		case "handle":
			e.Handle = d.String()
		case "from":
			e.From = d.String()
		case "to":
			e.To = d.String()
		case "by":
			e.By = d.String()
		case "reason":
			e.Reason = d.String()
		case "leftResources":
			e.LeftResources = d.leftResources()
		default:
			d.unknown(&e.Unknown, name)
		}
	})

	return e
}
