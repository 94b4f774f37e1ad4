package protocol

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

// The events in a machine: verbs, and changes of the world between them.

func one[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func participant(t *rapid.T) string { return one(t, "participant", "a", "b", "c") }
func call(t *rapid.T) string        { return one(t, "call", "1", "2", "3", "4", "5") }
func supervisor(t *rapid.T) string  { return one(t, "supervisor", "s", "u") }
func often(t *rapid.T, l string) bool {
	return one(t, l, true, true, true, false)
}

// unidentified is a pid that is given without saying which process it means.
const unidentified = 7

// make returns a verb with an actor, usually at the first place, and rarely without a monotonic
// clock.
func (m *machine) make(t *rapid.T, name string) *verb {
	v := &verb{name: name, at: m.places[one(t, "place", 0, 0, 0, 0, 0, 0, 1, 2)],
		blind: one(t, "blind", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1) == 1}
	v.awake = one(t, "awake", false, false, false, false, true)
	if v.actor.PID = one(t, "pid", 0, 0, 1, 2, 3, unidentified); v.actor.PID != unidentified {
		v.actor.Process = v.at.run(v.actor.PID, &m.ticks)
	}
	return v
}

// traceparent is a position in a trace.
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func (m *machine) push(t *rapid.T) {
	v := m.make(t, "push")
	p := Push{
		Participant: participant(t), Call: call(t), PID: v.actor.PID, Process: v.actor.Process,
		Contained:    !often(t, "failOnCrash"),
		Heartbeats:   !often(t, "judged by process"),
		Supervisor:   one(t, "supervisor", "", "", "s", "u"),
		OrphanPolicy: one(t, "orphanPolicy", "", "", OrphanCrash, OrphanKeep),
		Caller:       one(t, "caller", "", "", "", "1", "2"),
		Readiness:    one(t, "readiness", "", observe.ReadinessStarting), Resources: []string{"/r"},
		Tmp: often(t, "tmp"),
	}

	if p.Tmp { // and so in a trace, or in none
		p.Traceparent = traceparent
	}

	v.actor.Participant = p.Participant
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Push(p, seen) }
	before := m.op
	if !m.try(t, v) || m.op.Revision == before.Revision {
		return
	}

	m.calls[p.Call] = &pulse{process: p.Process, promise: p.Heartbeats}
	m.calls[p.Call].beat(v.at, v.blind)
	if _, had := before.Supervisor(p.Supervisor); !had && p.Supervisor != "" {
		m.supervisors[p.Supervisor] = &pulse{}
		m.supervisors[p.Supervisor].beat(v.at, v.blind)
	}
}

func (m *machine) beats(t *rapid.T, v *verb) {
	say := observe.Report{Cleaning: !often(t, "not cleaning"),
		Readiness: one(t, "readiness", "", "", observe.ReadinessReady, observe.ReadinessIdle,
			observe.ReadinessStopping)}
	if note := one(t, "note", "-", "-", "", "n"); note != "-" {
		say.Note = &note
	}

	v.always, v.adopts, v.counts = true, true, true
	actor := v.actor
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Heartbeat(actor, say, seen) }
	if m.try(t, v) && !m.op.State.Terminal() {
		m.checkReported(t, actor.Supervisor)
	}
}

func (m *machine) beat(t *rapid.T) {
	v := m.make(t, "beat")
	if often(t, "as participant") {
		v.actor.Participant = participant(t)
	} else {
		v.actor.Call = call(t)
	}
	m.beats(t, v)
}

func (m *machine) beatSupervisor(t *rapid.T) {
	v := m.make(t, "beat as supervisor")
	v.actor.Supervisor, v.actor.Heartbeats = supervisor(t), !often(t, "judged by process")
	m.beats(t, v)
}

func (m *machine) beatBoth(t *rapid.T) {
	v := m.make(t, "beat as both")
	v.actor.Supervisor, v.actor.Participant = supervisor(t), participant(t)
	m.beats(t, v)
}

func (m *machine) pop(t *rapid.T) {
	v := m.make(t, "pop")
	v.actor, v.always = Actor{}, true
	p := Pop{Call: call(t), Fail: !often(t, "well"), KeepOpen: !often(t, "close")}
	if f := m.op.Frame(p.Call); f != nil {
		v.lenient, v.popped, v.fails = f.ParticipantID, p.Call, p.Fail
	}
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Pop(p, seen) }
	m.try(t, v)
}

func (m *machine) abort(t *rapid.T) {
	if often(t, "not now") {
		return
	}
	v := m.make(t, "abort")
	v.actor = Actor{}
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Abort("user", "", "", seen) }
	m.try(t, v)
}

func (m *machine) cleanup(t *rapid.T) {
	v := m.make(t, "cleanup")
	v.actor, v.ticks, v.counts = Actor{}, true, true
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Cleanup("janitor", seen) }
	m.try(t, v)
}

func (m *machine) ack(t *rapid.T) {
	v := m.make(t, "ack")
	v.actor.Supervisor, v.adopts = supervisor(t), true
	v.acked = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}), 1, 2,
		rapid.ID[string]).Draw(t, "calls")
	actor := v.actor
	v.do = func(seen observe.Observation) (Operation, error) { return m.op.Ack(actor, v.acked, seen) }
	m.try(t, v)
}

func (m *machine) claim(t *rapid.T) {
	v := m.make(t, "claim")
	handler := Actor{Supervisor: supervisor(t), PID: v.actor.PID, Process: v.actor.Process}
	v.actor, v.always = Actor{Supervisor: handler.Supervisor}, true
	var got []string
	v.do = func(seen observe.Observation) (after Operation, err error) {
		after, got, err = m.op.Claim(handler, seen)
		return after, err
	}

	handled := m.handled(v.at)
	if !m.try(t, v) {
		return
	}

	for _, call := range got {
		if slices.Contains(handled, call) {
			t.Fatalf("call %s is claimed twice", call)
		}
		m.handlers[call] = &pulse{process: handler.Process}
		m.handlers[call].beat(v.at, v.blind)
	}

	for _, f := range m.op.Reported(handler.Supervisor) {
		if m.handlers[f.CallID] == nil || f.Crash.HandlingBy == nil {
			t.Fatalf("call %s of %s is not claimed", f.CallID, handler.Supervisor)
		}
	}
}

// handled returns the claimed calls whose handler may be alive as far as an observer at p can tell
// (spec §5.7).
func (m *machine) handled(p *place) (calls []string) {
	for call, h := range m.handlers {
		q := h.process
		checked := q != (observe.Process{}) && q.HostID == p.id && q.BootID == p.bootID() &&
			q.PIDNamespace == p.namespace
		if h.gone(p) == "" && (checked || p.wall.Sub(h.wall) <= 10*DefaultStalenessThreshold) {
			calls = append(calls, call)
		}
	}
	return calls
}

func (m *machine) unclaim(t *rapid.T) {
	v := m.make(t, "unclaim")
	v.actor, v.always, v.left = Actor{Supervisor: supervisor(t)}, true, []string{call(t)}
	v.do = func(seen observe.Observation) (Operation, error) {
		return m.op.Unclaim(v.actor.Supervisor,
			v.left, seen)
	}
	if m.try(t, v) {
		delete(m.handlers, v.left[0])
	}
}

func (m *machine) wait(t *rapid.T) {
	m.awake(time.Duration(one(t, "milliseconds", 0, 1, 700, 700, 1500, 1500, 3000, 3000, 4000, 6666,
		6667, 9999, 10_000, 10_001, 101_000)) * time.Millisecond)
}

func (m *machine) awake(d time.Duration) {
	m.places[0].awake(d)
	m.places[2].awake(d)
}

func (m *machine) suspend(t *rapid.T) {
	d := one(t, "asleep", 15*time.Second, time.Hour)
	m.places[0].asleep(d)
	m.places[2].awake(d)
}

func (m *machine) setClock(t *rapid.T) {
	h := m.places[one(t, "place", 0, 2)].simHost
	step := one(t, "step", time.Hour, -time.Hour, 8*time.Second, -8*time.Second)
	h.asleep(step)
	h.bootedAt = h.bootedAt.Add(step) // it is counted back from now
}

// edit acts as a participant in another language that only sets its heartbeat, or its pid.
func (m *machine) edit(t *rapid.T) {
	i := m.op.index(call(t))
	if i < 0 {
		return
	}

	f, p := *m.op.Stack[i], one(t, "place", m.places...)
	u := m.calls[f.CallID]
	if often(t, "heartbeat") {
		at := p.wall.Add(-123 * time.Millisecond) // no beat has that time
		if at.Equal(f.LastHeartbeat) {
			return // nobody can see that it was sent again
		}
		f.LastHeartbeat = at
		u.beat(p, true)
		u.wall = f.LastHeartbeat
	} else {
		f.PID = unidentified
		u.process = observe.Process{}
	}

	m.op.Stack[i] = &f
}

func (m *machine) exit(t *rapid.T) {
	delete(m.places[one(t, "place", 0, 0, 1, 2)].started, one(t, "pid", 1, 2, 3))
}

func (m *machine) reboot(t *rapid.T) {
	if often(t, "not now") {
		return
	}

	h := m.places[one(t, "place", 0, 2)].simHost
	h.asleep(20 * time.Second)
	h.boots, h.bootedAt, h.mono = h.boots+1, h.wall.Add(-2*time.Second), 2000

	for _, p := range m.places {
		if p.simHost == h {
			p.reboot()
		}
	}
}
