package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// No edit takes a revision, or the number of an alert, above lastRevision; a reader takes what is
// twice that. So what an edit writes can always be read, also where a pass counts on by a few.
const (
	lastRevision = 1 << 61
	maxRevision  = 1 << 62
)

func (d *decoder) operation() Operation {
	op := Create("", 0, 0)
	op.source = &source{text: d.text}
	var hasState, hasStack bool
	d.object(func(name string) {
		switch name {
		case "protocolVersion":
			op.ProtocolVersion = d.version()
		case "operationId":
			op.ID = d.id()
		case "revision":
			op.Revision = d.revision()
		case "state":
			hasState = true
			if op.State = State(d.string()); !op.State.valid() {
				d.fail("unknown state %.40q", string(op.State))
			}
		case "lastHeartbeat":
			op.LastHeartbeat = d.time()
		case "aborted":
			op.Aborted = d.bool()
		case "heartbeatIntervalMs":
			op.HeartbeatInterval = d.milliseconds(1)
		case "stalenessThresholdMs":
			op.StalenessThreshold = d.milliseconds(1)
		case "terminalAt":
			op.TerminalAt = d.timeOrNull()
		case "terminalHeartbeats":
			op.TerminalHeartbeats = int(d.int(0))
		case "stack":
			hasStack = true
			op.Stack = d.stack(op.source)
		case "supervisorHeartbeats":
			start := d.next()
			op.Supervisors = d.supervisors()
			op.source.supervisorsText = d.since(start)
		case "transitions":
			start := d.next()
			op.Transitions = d.transitions()
			op.source.transitionsText = d.since(start)
		case "events":
			start := d.next()
			d.array(func() { op.Events = append(op.Events, d.event()) })
			op.source.eventsText = d.since(start)
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
	version := int(d.int(1))
	if version > Version {
		d.failWith(ErrNewerVersion, "protocolVersion %d: this program understands %d: update it", version, Version)
	}
	return version
}

// revision reads a number that grows by one with each edit, or each alert.
func (d *decoder) revision() int64 {
	revision := d.int(0)
	if revision > maxRevision {
		d.fail("a number of at most %d is expected", int64(maxRevision))
	}
	return revision
}

func (d *decoder) require(name string, has bool) {
	if !has && d.err == nil {
		d.err = &DecodeError{Path: string(d.dec.StackPointer()) + "/" + name, Cause: "is missing", is: ErrCorrupt}
	}
}

// next returns where the next value begins.
func (d *decoder) next() int {
	i := int(d.dec.InputOffset())
	for i < len(d.text) && strings.IndexByte(" \t\r\n,:", d.text[i]) >= 0 {
		i++
	}
	return i
}

// since returns the text that was read since the offset start.
func (d *decoder) since(start int) string {
	if d.err != nil {
		return ""
	}
	return d.text[start:d.dec.InputOffset()]
}

// cameFrom notes that f was decoded from src.text[start:end].
func (f *Frame) cameFrom(src *source, start, end int) {
	f.source, f.start, f.end, f.decoded = src, int32(start), int32(end), f
}

func (d *decoder) stack(src *source) []*Frame {
	var frames []*Frame
	d.array(func() {
		f, start := &Frame{}, d.next()
		d.frame(f)
		f.cameFrom(src, start, int(d.dec.InputOffset()))
		frames = append(frames, f)
	})
	d.checkUnique(frames)
	return frames
}

// checkUnique refuses a call id that occurs twice. A map would cost a tenth of decoding a large stack.
func (d *decoder) checkUnique(frames []*Frame) {
	if d.err != nil {
		return
	}
	slots := 4
	for slots < 2*len(frames) {
		slots *= 2
	}
	table := make([]int32, slots) // 1 + index of a frame
	for i, f := range frames {
		slot := fnv32(f.CallID) & uint32(slots-1)
		for ; table[slot] != 0; slot = (slot + 1) & uint32(slots-1) {
			if frames[table[slot]-1].CallID == f.CallID {
				d.twice(frames, i)
				return
			}
		}
		table[slot] = int32(i) + 1
	}
}

// fnv32 is the 32-bit FNV-1a hash of s.
func fnv32(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func (d *decoder) twice(frames []*Frame, i int) {
	if d.err == nil {
		d.err = &DecodeError{Path: "/stack/" + strconv.Itoa(i) + "/callId", Cause: fmt.Sprintf("%q occurs twice", frames[i].CallID), is: ErrCorrupt}
	}
}

func (d *decoder) frame(f *Frame) {
	f.State, f.FailOnCrash = FrameActive, true
	d.object(func(name string) {
		switch name {
		case "participantId":
			f.ParticipantID = d.id()
		case "callId":
			f.CallID = d.id()
		case "callerId":
			f.CallerID = d.id()
		case "pid":
			f.PID = int(d.int(0))
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
			f.Description = d.string()
		case "readiness":
			f.notice().Readiness = d.readiness()
		case "note":
			f.notice().Note = d.string()
		case "failOnCrash":
			f.FailOnCrash = d.bool()
		case "heartbeats":
			f.Heartbeats = d.bool()
		case "resources":
			d.array(func() { f.Resources = append(f.Resources, d.string()) })
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
			f.crash().DetectedBy = d.string()
		case "evidence":
			f.crash().Evidence = Evidence(d.string())
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

// crash returns f.Crash, made if need be.
func (f *Frame) crash() *Crash {
	if f.Crash == nil {
		f.Crash = &Crash{}
	}
	return f.Crash
}

func (d *decoder) frameState() FrameState {
	s := FrameState(d.string())
	if !s.valid() {
		d.fail("unknown frame state %.40q", string(s))
	}
	return s
}

func (d *decoder) leftResources() (left []LeftResource) {
	d.array(func() {
		var l LeftResource
		d.object(func(name string) {
			switch name {
			case "path":
				l.Path = d.string()
			case "error":
				l.Error = d.string()
			default:
				d.unknown(&l.Unknown, name)
			}
		})
		left = append(left, l)
	})
	return left
}

// made returns *n, made if need be.
func made(n **nestedUnknown) *nestedUnknown {
	if *n == nil {
		*n = &nestedUnknown{}
	}
	return *n
}

func (d *decoder) process(nested **nestedUnknown) Process {
	return d.identity(func() *[]Member { return &made(nested).process })
}

// identity reads the identity of a process, whose unknown members go where unknown says.
func (d *decoder) identity(unknown func() *[]Member) (p Process) {
	d.object(func(name string) {
		switch name {
		case "pid":
			p.PID = int(d.int(0))
		case "hostId":
			p.HostID = d.string()
		case "bootId":
			p.BootID = d.string()
		case "pidNamespace":
			p.PIDNamespace = d.string()
		case "startTicks":
			p.StartTicks = d.int(0)
		default:
			d.unknown(unknown(), name)
		}
	})
	return p
}

// beat reads a beat, whose unknown members go where unknown says.
func (d *decoder) beat(unknown func() *[]Member) (b Beat) {
	d.object(func(name string) {
		switch name {
		case "bootId":
			b.BootID = d.string()
		case "monotonicMs":
			b.MonotonicMs = d.int(0)
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
	d.object(func(name string) {
		switch name {
		case "pid":
			h.PID = int(d.int(0))
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
	d.object(func(key string) {
		s := Supervisor{Status: Alive, OrphanPolicy: OrphanCrash}
		d.checkID(key)
		d.object(func(name string) {
			switch name {
			case "supervisorId":
				if s.ID = d.string(); s.ID != key {
					d.fail("supervisorId %.40q differs from its key", s.ID)
				}
			case "pid":
				s.PID = int(d.int(0))
			case "lastHeartbeat":
				s.LastHeartbeat = d.time()
			case "status":
				if s.Status = Status(d.string()); s.Status != Alive && s.Status != Dead {
					d.fail("unknown status %.40q", string(s.Status))
				}
			case "orphanPolicy":
				if s.OrphanPolicy = OrphanPolicy(d.string()); s.OrphanPolicy != OrphanCrash && s.OrphanPolicy != OrphanKeep {
					d.fail("unknown orphanPolicy %.40q", string(s.OrphanPolicy))
				}
			case "heartbeats":
				s.Heartbeats = d.bool()
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
	d.array(func() { all = append(all, d.transition()) })
	return all
}

func (d *decoder) transition() (t Transition) {
	d.object(func(name string) {
		switch name {
		case "revision":
			t.Revision = d.int(0)
		case "from":
			t.From = State(d.string())
		case "to":
			t.To = State(d.string())
		case "at":
			t.At = d.time()
		case "by":
			t.By = d.string()
		case "reason":
			t.Reason = d.string()
		default:
			d.unknown(&t.Unknown, name)
		}
	})
	return t
}

func (d *decoder) event() (e Event) {
	d.object(func(name string) {
		switch name {
		case "revision":
			e.Revision = d.int(0)
		case "at":
			e.At = d.time()
		case "type":
			e.Type = EventType(d.string())
		case "callId":
			e.CallID = d.id()
		case "callerId":
			e.CallerID = d.id()
		case "supervisorId":
			e.SupervisorID = d.id()
		case "handle":
			e.Handle = d.string()
		case "from":
			e.From = d.string()
		case "to":
			e.To = d.string()
		case "by":
			e.By = d.string()
		case "reason":
			e.Reason = d.string()
		case "leftResources":
			e.LeftResources = d.leftResources()
		default:
			d.unknown(&e.Unknown, name)
		}
	})
	return e
}
