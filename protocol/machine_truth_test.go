package protocol

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

// checkTruth holds an edit against what really happened, and takes note of what it changed.
func (m *machine) checkTruth(t *rapid.T, v *verb, before, after Operation) {
	if before.State.Terminal() || after.Revision == before.Revision && !v.ticks {
		return
	}

	m.grant(v, before)
	died := m.died(v, before)
	crashed := newlyCrashed(before, after)
	refreshed := m.refreshed(v, before)

	for _, f := range before.Stack {
		if f.State.Live() {
			want := m.evidence(v, before, f, slices.Contains(refreshed, f.CallID),
				slices.Contains(died, f.SupervisorID))
			if has := slices.Contains(crashed, f.CallID); has != (want != "") {
				t.Fatalf("call %s crashed: %t, but it is %q", f.CallID, has, want)
			}
			checkFate(t, v, f, left(before, after, f.CallID), want, slices.Contains(refreshed, f.CallID))
		}
	}

	for _, s := range before.Supervisors {
		now, _ := after.Supervisor(s.ID)
		want := s.Status
		if slices.Contains(died, s.ID) {
			want = Dead
		}
		if s.ID == v.actor.Supervisor {
			want = Alive
		}
		if now.Status != want {
			t.Fatalf("supervisor %s is %q, want %s", s.ID, now.Status, want)
		}
	}

	m.checkCrashed(t, v, before, after)
	m.learn(v, before, after, refreshed)
	m.checkGraces(t, after)
}

// grant gives fresh windows, if no one was heard from before, to all except those heard from now.
func (m *machine) grant(v *verb, before Operation) {
	silent := !v.awake
	for _, all := range []map[string]*pulse{m.calls, m.supervisors} {
		for _, u := range all {
			silent = silent && u.quiet(v.at, v.blind)
		}
	}

	if !silent {
		return
	}

	refreshed := m.refreshed(v, before)
	for _, f := range before.Stack {
		if f.State.Live() && !slices.Contains(refreshed, f.CallID) {
			m.calls[f.CallID].grant(v.at, v.blind, v.actor != Actor{})
		}
	}

	for _, s := range before.Supervisors {
		if s.Status == Alive && s.ID != v.actor.Supervisor {
			m.supervisors[s.ID].grant(v.at, v.blind, v.actor != Actor{})
		}
	}
}

// checkGraces checks that exactly those older live ones have a window that should have one.
func (m *machine) checkGraces(t *rapid.T, after Operation) {
	check := func(name string, u *pulse, v observe.Vitals) {
		switch counting, g := v.Counting().Grace, v.Grace; {
		case u == nil: // it is new
		case (u.grace != nil) != (counting != nil):
			t.Fatalf("%s has the window %+v, want %+v", name, g, u.grace)
		case counting != nil && !counting.At.Equal(u.grace.wall):
			t.Fatalf("the window of %s is of %v, want %v", name, counting.At, u.grace.wall)
		}
	}

	for _, f := range after.Stack {
		if !f.State.Live() {
			continue
		}
		check("call "+f.CallID, m.calls[f.CallID], f.Vitals)
	}

	for _, s := range after.Supervisors {
		if s.Status == Dead {
			continue
		}
		check("supervisor "+s.ID, m.supervisors[s.ID], s.Vitals)
	}
}

// evidence returns the evidence for which the live call f must be declared crashed, or "".
func (m *machine) evidence(
	v *verb, before Operation, f *Frame, refreshed, orphaned bool,
) observe.Evidence {
	if s, _ := before.Supervisor(f.SupervisorID); orphaned && s.OrphanPolicy == OrphanCrash {
		return observe.SupervisorDead
	}
	if refreshed {
		return ""
	}

	evidence := m.calls[f.CallID].verdict(v.at, v.blind)
	if evidence == observe.Stale && f.ParticipantID == v.lenient {
		return ""
	}
	return evidence
}

// checkFate checks the live frame f after an edit. after is nil if it has left the stack; it must
// be crashed if there is evidence.
func checkFate(t *rapid.T, v *verb, f, after *Frame, evidence observe.Evidence, refreshed bool) {
	switch {
	case after == nil:
		if evidence == "" && v.popped != f.CallID {
			t.Fatalf("call %s was live and is gone", f.CallID)
		}
	case evidence != "":
		if c := after.Crash; after.State != FrameCrashed || c.Evidence != evidence ||
			!c.PreviousState.Live() || !c.At.Equal(v.at.wall) {
			t.Fatalf("call %s is %s, %+v, want %s", f.CallID, after.State, c, evidence)
		}
	case refreshed && !after.LastHeartbeat.Equal(v.at.wall):
		t.Fatalf("call %s was not refreshed", f.CallID)
	case !refreshed && after.State != f.State:
		t.Fatalf("call %s is %s, and has not said so", f.CallID, after.State)
	}
}

// died returns the supervisors that the edit must find dead, including an older process of its
// actor.
func (m *machine) died(v *verb, before Operation) (ids []string) {
	for _, s := range before.Supervisors {
		u := m.supervisors[s.ID]
		dead := u.verdict(v.at, v.blind) != ""
		if s.ID == v.actor.Supervisor {
			dead = m.replaced(v)
		}
		if dead && s.Status == Alive {
			ids = append(ids, s.ID)
		}
	}

	return ids
}

// replaced reports whether the actor is another process than the one that its supervisor was.
func (m *machine) replaced(v *verb) bool {
	u := m.supervisors[v.actor.Supervisor]
	return u != nil && (u.foreign(v.actor.Process) || v.actor.Process == observe.Process{} &&
		u.gone(v.at) != "")
}

// refreshed returns the calls that the actor's heartbeat is one of.
func (m *machine) refreshed(v *verb, before Operation) (calls []string) {
	for _, f := range before.Stack {
		own := v.actor.Call != "" && f.CallID == v.actor.Call || v.actor.Participant != "" &&
			f.ParticipantID == v.actor.Participant
		if u := m.calls[f.CallID]; own && f.State.Live() && !u.foreign(v.actor.Process) &&
			u.gone(v.at) == "" {
			calls = append(calls, f.CallID)
		}
	}
	return calls
}

// newlyCrashed returns the calls that the edit declared crashed, by its events.
func newlyCrashed(before, after Operation) (calls []string) {
	for _, e := range after.Events {
		if e.Revision > before.Revision && e.Type == observe.CallState && e.To == string(FrameCrashed) {
			calls = append(calls, e.CallID)
		}
	}
	return calls
}

// checkCrashed checks calls that were crashed before: only a live supervisor may keep them, until
// it acknowledges them or has been silent about them for ten thresholds.
func (m *machine) checkCrashed(t *rapid.T, v *verb, before, after Operation) {
	for _, f := range before.Stack {
		if f.State != FrameCrashed || f.CallID == v.popped || slices.Contains(v.acked, f.CallID) {
			continue
		}

		g := left(before, after, f.CallID)
		cleaned := g == nil || g.State == FrameCleanedUp
		s, _ := after.Supervisor(f.SupervisorID)
		handled := slices.Contains(m.handled(v.at), f.CallID) && !slices.Contains(v.left, f.CallID)
		unacknowledged := !handled && f.reported() &&
			m.told[f.CallID].age(v.at, v.blind) > 10*DefaultStalenessThreshold
		nobody := s.Status != Alive || unacknowledged
		due := nobody && (after.State != Running && after.State != Aborted || !f.FailOnCrash)
		if cleaned && !nobody || !cleaned && due && v.name != "claim" {
			t.Fatalf("the crashed call %s of %q, %s, unacknowledged: %t, is cleaned up: %t",
				f.CallID, f.SupervisorID, s.Status, unacknowledged, cleaned)
		}
	}
}

// learn takes note of who was heard of, and forgets who is gone.
func (m *machine) learn(v *verb, before, after Operation, refreshed []string) {
	for _, call := range refreshed {
		u := m.calls[call]
		if u.beat(v.at, v.blind); v.adopts && u.process == (observe.Process{}) {
			u.process = v.actor.Process
		}
	}

	if id := v.actor.Supervisor; id != "" {
		u := m.supervisors[id]
		if u == nil {
			u = &pulse{}
			m.supervisors[id] = u
		}

		u.promise = u.promise && !m.replaced(v) || v.actor.Heartbeats
		if u.process == (observe.Process{}) || m.replaced(v) {
			u.process = v.actor.Process
		}

		u.beat(v.at, v.blind)
	}

	for call := range m.calls {
		if left(before, after, call) == nil {
			delete(m.calls, call)
		}
	}

	for _, f := range after.Stack {
		if f.reported() && m.told[f.CallID] == nil {
			m.told[f.CallID] = &pulse{}
			m.told[f.CallID].beat(v.at, v.blind)
		}
	}

	for call := range m.told {
		if left(before, after, call) == nil {
			delete(m.told, call)
		}
	}

	for call := range m.handlers {
		if f := left(before, after, call); f == nil || f.State != FrameCrashed {
			delete(m.handlers, call)
		}
	}
}

// checkReported checks that the supervisor, which has just sent a heartbeat, got a report of all
// its crashed calls.
func (m *machine) checkReported(t *rapid.T, supervisor string) {
	reported := m.op.Reported(supervisor)
	for _, f := range m.op.Stack {
		if waits := supervisor != "" && f.SupervisorID == supervisor &&
			f.State == FrameCrashed; waits != slices.Contains(reported, f) || waits &&
			!f.reported() {
			t.Fatalf("call %s waits for %q: %t, and is not reported", f.CallID, supervisor, waits)
		}
	}
}
