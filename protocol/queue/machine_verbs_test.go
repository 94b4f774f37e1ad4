package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// The verbs of a machine.

func (m *machine) make(t *rapid.T, name string) *verb {
	return &verb{name: name, ends: make(map[string]bool),
		at: one(t, "place", here, here, here, here, here, here, blind, elsewhere)}
}

// fresh returns a new task.
func (m *machine) fresh() New {
	m.made++
	return New{ID: fmt.Sprint("t", m.made), Spec: Content(fmt.Sprintf(`{"n":%d}`, m.made))}
}

// any returns the id of a task, usually one that has not ended.
func (m *machine) any(t *rapid.T, states ...TaskState) string {
	var ids []string
	for _, task := range m.q.Tasks {
		if len(states) == 0 || slices.Contains(states, task.State) {
			ids = append(ids, task.ID)
		}
	}
	if all := m.known(); len(ids) == 0 || one(t, "any task", 0, 0, 0, 0, 0, 1) == 1 {
		ids = append(all, "unknown")
	}
	return one(t, "task", ids...)
}

func (m *machine) enqueue(t *rapid.T) {
	v := m.make(t, "enqueue")
	var batch []New
	for range one(t, "tasks", 1, 1, 2, 3) {
		n := m.fresh()
		if old := m.any(t); m.tasks[old] != nil && one(t, "known", 0, 0, 1) == 1 {
			n = New{ID: old, Spec: m.tasks[old].spec,
				Replace: one(t, "replace", false, true)}
			if one(t, "other spec", 0, 0, 1) == 1 {
				n.Spec = `{"other":true}`
			}
		}
		n.Priority = one[int64](t, "priority", 0, 0, 1, -1)
		n.Group = one(t, "group", "", "", "g", "h")
		n.MaxAttempts = one[int64](t, "maxAttempts", 0, 0, 1)
		n.Expires = one(t, "expires", 0, 0, 0, time.Second)
		n.Delay = one(t, "delay", 0, 0, 0, time.Second)
		if one(t, "dependent", 0, 0, 1) == 1 {
			n.After = []string{m.any(t)}
		}
		batch = append(batch, n)
	}

	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Enqueue(batch, seen) }
	v.repeat = !slices.ContainsFunc(batch, func(n New) bool { return n.Replace })
	known := m.known()
	if m.try(t, v) {
		for _, n := range batch {
			if n.Replace || !slices.Contains(known, n.ID) {
				m.note(n)
				m.tasks[n.ID].spec, m.tasks[n.ID].due = n.Spec, 0
				if n.Delay > 0 {
					m.delayed(v, n.ID, n.Delay)
				}
			}
		}
	}
}

// delayed notes that the task id waits for d from now on.
func (m *machine) delayed(v *verb, id string, d time.Duration) {
	if v.at == here {
		m.tasks[id].dueBoot, m.tasks[id].due = m.w.boot, m.w.mono+d.Milliseconds()
	}
}

func (m *machine) claim(t *rapid.T) {
	v := m.make(t, "claim")
	c := &claimer{Claimer: Claimer{Participant: one(t, "participant", "w1", "w2", "w3")},
		started: m.w.boot}
	gone := false
	c.Call = one(t, "call", "", "", "", "m", "n")
	if c.Call != "" {
		c.Operation, c.Own = "o", one(t, "own", 0, 1) == 1
	}
	if v.at == here || v.at == blind {
		c.Process = m.w.run(one(t, "pid", 1, 2, 3))
		c.PID = c.Process.PID
		if one(t, "kept", 0, 0, 1) == 1 {
			c.Keeper = m.w.run(4)
		}
		if one(t, "dies first", 0, 0, 0, 0, 0, 0, 1) == 1 {
			delete(m.w.alive, c.PID)
			gone = c.Keeper.PID == 0
		}
	}
	if m.w.calls[c.Call] == CallOver || m.w.calls[c.Call] == CallCrashed {
		m.w.calls[c.Call] = CallOpen
	}
	c.Deadline = one(t, "deadline", 0, 0, 0, 2*time.Second)

	if one(t, "named", 0, 0, 0, 1) == 1 {
		v.named = m.any(t, Waiting)
	}
	v.claims = c
	v.do = func(q Queue, seen Seen) (Queue, error) {
		after, _, err := q.Claim(c.Claimer, v.named, seen)
		if gone != errors.Is(err, ErrGone) {
			t.Fatalf("a claimer that is gone, %v: %v", gone, err)
		}
		return after, err
	}
	m.try(t, v)
}

func (m *machine) settle(t *rapid.T) {
	v := m.make(t, "settle")
	id, epoch := m.any(t, Claimed), int64(1)
	if n := int64(len(m.attempts)); n > 0 {
		epoch = rapid.Int64Range(1, n).Draw(t, "epoch")
	}
	task := m.tasks[id]
	switch {
	case task == nil:
	case task.claimed != nil && one(t, "current", true, true, true, false):
		epoch = task.claimed.epoch
	case task.last != nil && one(t, "last", true, false):
		epoch = task.last.epoch
	}

	s := Settlement{Task: id, Epoch: epoch, Later: one(t, "later", false, false, false, true)}
	s.End = one(t, "end", Done, Done, Failed, Failed, Failed, Rejected, NotStarted, Released,
		TempFail, Snoozed, Asked, Cancelled)
	s.Status = one[int64](t, "status", 0, 1)
	s.Delay = one(t, "snooze", 0, time.Second)
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Settle(s, seen) }

	current := task != nil && task.claimed != nil && task.claimed.epoch == epoch
	if !current {
		m.settleOld(t, v, s)
		return
	}

	a := task.claimed
	if s.Later {
		a.intends = &s.Outcome
	} else {
		v.ends[id], v.said, a.said = true, s.End, s.End
	}
	v.repeat = true
	revision := m.q.Revision
	if !m.try(t, v) && !s.Later {
		t.Fatalf("the end of attempt %d is not heard, revision %d", epoch, revision)
	}
}

// settleOld settles an attempt that is over, or never was. Only who has settled it before is heard,
// and nothing changes.
func (m *machine) settleOld(t *rapid.T, v *verb, s Settlement) {
	before := m.q
	after, err := v.do(before, m.seen(v.at))
	if after.Encode() != before.Encode() {
		t.Fatalf("an attempt that is over has changed:\n%s\nwas:\n%s", after.Encode(),
			before.Encode())
	}

	task := m.tasks[s.Task]
	switch {
	case task == nil:
		if !errors.Is(err, ErrNoTask) {
			t.Fatalf("settled a task that never was: %v", err)
		}
	case task.last == nil || task.last.epoch != s.Epoch || task.last.said == "" ||
		m.past[s.Task].ID != "":
		if !errors.Is(err, ErrLost) {
			t.Fatalf("attempt %d of %s, which is lost: %v", s.Epoch, s.Task, err)
		}
	case s.End == task.last.ended && err != nil,
		s.End != task.last.ended && !errors.Is(err, ErrSettled):
		t.Fatalf("attempt %d of %s, which is %s, settles again as %s: %v", s.Epoch, s.Task,
			task.last.ended, s.End, err)
	}
}

// unclaim takes back a claim, also one that is over, and checks that nothing of it is left.
func (m *machine) unclaim(t *rapid.T) {
	v := m.make(t, "unclaim")
	id, epoch := m.any(t, Claimed), int64(1)
	task, before := m.tasks[id], m.q.Task(id)
	current := task != nil && task.claimed != nil
	if current && one(t, "current", true, true, true, false) {
		epoch = task.claimed.epoch
	}
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Unclaim(id, epoch, seen) }
	if !current || task.claimed.epoch != epoch {
		if m.try(t, v) {
			t.Fatalf("the claim %d of %s, which is over, is taken back", epoch, id)
		}
		return
	}

	a := task.claimed
	v.ends[id], v.repeat = true, true
	switch {
	case a.intends != nil:
		v.said = a.intends.End
	case before.Claim.Stop == Cancelled:
		v.said = Cancelled
	default:
		v.undone = id
	}
	if a.said = v.said; !m.try(t, v) {
		t.Fatalf("the claim %d of %s is not taken back", epoch, id)
	}
}

func (m *machine) pass(t *rapid.T) {
	v := m.make(t, "pass")
	v.do, v.repeat = Queue.Pass, true
	m.try(t, v)
}

func (m *machine) control(t *rapid.T) {
	v := m.make(t, "control")
	c := Control{By: one(t, "by", Operator, "ada"), Resume: one(t, "resume", true, true, false)}
	v.repeat = true
	switch one(t, "what", 0, 1, 2, 3, 4) {
	case 1:
		c.Halt = &HaltRequest{Reason: "x", Now: one(t, "now", false, true)}
		c.Resume = false
	case 2:
		slots := one[int64](t, "slots", 0, 1, 2)
		c.Policy = func(p *Policy) { p.Slots = slots }
	case 3:
		c.Permits = &PermitChange{All: one(t, "all", false, true, true), Count: 2}
	case 4:
		c.Goal, c.Done = new("ship"), one(t, "done", false, true)
	}
	v.repeat = v.repeat && !c.Resume // the end of an edit may halt again
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Control(c, seen) }
	m.try(t, v)
}

func (m *machine) redrive(t *rapid.T) {
	v := m.make(t, "redrive")
	ids := []string{m.any(t, Dead, Blocked)}
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Redrive(ids, false, seen) }
	if task := m.tasks[ids[0]]; task != nil {
		task.redriven = true
		defer func() { task.redriven = false }()
	}
	if m.try(t, v) {
		m.tasks[ids[0]].tries = 0
	}
}

func (m *machine) alert(t *rapid.T) {
	v := m.make(t, "alert")
	alerts := m.q.Alerts()
	if len(alerts) == 0 {
		return
	}
	a := one(t, "alert", alerts...)
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Alerted(a, seen) }
	v.repeat = true
	if a.Task != "" {
		m.alerted[a.Epoch] = true
	}
	m.try(t, v)
	if slices.Contains(m.q.Alerts(), a) {
		t.Fatalf("%+v is to be given again:\n%s", a, m.q.Encode())
	}
}

func (m *machine) cancel(t *rapid.T) {
	v := m.make(t, "cancel")
	id := m.any(t)
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Cancel([]string{id}, "ada", "", seen) }
	v.repeat = true
	if task := m.tasks[id]; task != nil && task.claimed != nil && !task.claimed.Own {
		v.ends[id] = true
	}
	m.try(t, v)
}
