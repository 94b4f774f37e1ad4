package queue

import (
	"errors"
	"slices"

	"pgregory.net/rapid"
)

// What holds after every verb.

// checkRepeated checks that v changes nothing when it is made again, nor does a pass: whatever
// there was to be judged has been judged.
func (m *machine) checkRepeated(t *rapid.T, v *verb, after Queue, seen Seen) {
	if v.repeat {
		again, err := v.do(after, seen)
		if again.Encode() != after.Encode() || err != nil && !errors.Is(err, ErrSettled) &&
			!errors.Is(err, ErrOtherHalts) && !errors.Is(err, ErrLost) {
			t.Fatalf("%s again: %v\n%s\nwas:\n%s", v.name, err, again.Encode(), after.Encode())
		}
	}
	if passed, err := after.Pass(seen); err != nil || passed.Encode() != after.Encode() {
		t.Fatalf("a pass after %s: %v\n%s\nwas:\n%s", v.name, err, passed.Encode(), after.Encode())
	}
}

// checkFile returns after as it is read from its file.
func (m *machine) checkFile(t *rapid.T, after Queue) Queue {
	text := after.Encode()
	decoded, err := Decode(text)
	if err != nil {
		t.Fatalf("its file is refused: %v\n%s", err, text)
	}
	if decoded.Encode() != text || canonical(decoded) != canonical(after) {
		t.Fatalf("does not survive its file:\n%s\nis:\n%s", text, decoded.Encode())
	}
	return decoded
}

// checkAttempts checks the claims that have ended or begun with v, and notes them.
func (m *machine) checkAttempts(t *rapid.T, v *verb, before, after Queue) {
	for _, task := range before.Tasks {
		if task.Claim != nil {
			m.checkClaimed(t, v, task, after)
		}
	}

	begun := 0
	perGroup := make(map[string]int)
	claimed := int64(0)
	for _, task := range after.Tasks {
		if task.Claim == nil {
			continue
		}
		claimed++
		if task.Group != "" {
			if perGroup[task.Group]++; perGroup[task.Group] > 1 {
				t.Fatalf("two claims in the group %s:\n%s", task.Group, after.Encode())
			}
		}
		if old := before.Task(task.ID); old == nil || old.Claim == nil ||
			old.Claim.Epoch != task.Claim.Epoch {
			begun++
			m.checkBegun(t, v, task, before, after)
		}
	}

	if after.LastEpoch != before.LastEpoch+int64(begun) || begun > 1 ||
		after.LastEpoch != int64(len(m.attempts)) {
		t.Fatalf("%d claims begun, the last epoch is %d after %d", begun, after.LastEpoch,
			before.LastEpoch)
	}
	if slots := after.Policy.Slots; begun > 0 && slots > 0 && claimed > slots {
		t.Fatalf("%d claims of %d slots", claimed, slots)
	}
	if p := before.Permits; p.Limited && v.undone != "" && after.Permits.Left != p.Left+1 {
		t.Fatalf("%d permits are left of %d after one was given back", after.Permits.Left, p.Left)
	}
	if p := before.Permits; p.Limited && v.name == "claim" && (p.Left < int64(begun) ||
		after.Permits.Left != p.Left-int64(begun)) {
		t.Fatalf("%d permits are left of %d", after.Permits.Left, p.Left)
	}
}

// checkClaimed checks what has become of a task that was claimed before v.
func (m *machine) checkClaimed(t *rapid.T, v *verb, task *Task, after Queue) {
	truth := m.tasks[task.ID]
	a := truth.claimed
	over := m.over(a, v.at)
	now := after.Task(task.ID)
	if now != nil && now.Claim != nil && now.Claim.Epoch == a.epoch {
		if over != "" {
			t.Fatalf("attempt %d of %s is %s, and it is still claimed", a.epoch, task.ID, over)
		}
		return
	}

	if over == "" && !v.ends[task.ID] {
		t.Fatalf("%s has ended attempt %d of %s, which lives", v.name, a.epoch, task.ID)
	}

	if v.undone == task.ID {
		m.checkUndone(t, truth, task, now)
		return
	}

	last, charged := Attempt{}, task.Charged
	if now != nil {
		last, charged = now.Last, now.Charged
	} else if ended, ok := after.EndedTask(task.ID); ok {
		last = ended.Last
	} else {
		t.Fatalf("%s is nowhere", task.ID)
	}

	m.checkEnd(t, v, task, last, over)
	if now != nil && !truth.redriven {
		want := task.Charged
		if last.End.Failure() {
			want++
		}
		if charged != want || last.End == Rebooted && charged != task.Charged {
			t.Fatalf("%s was charged %d, and %d before, for %s", task.ID, charged, task.Charged,
				last.End)
		}
		if now.State == Waiting && charged >= truth.most {
			t.Fatalf("%s has failed %d times and waits", task.ID, charged)
		}
	}

	if last.End == Snoozed {
		truth.tries--
	}
	a.ended = last.End
	truth.claimed, truth.last, truth.due = nil, a, 0
	if now != nil && now.State == Waiting {
		m.delayed(v, task.ID, now.Delay().For)
	}
}

// checkUndone checks that now, the task whose claim was taken back, is as before it was made.
func (m *machine) checkUndone(t *rapid.T, truth *truth, task, now *Task) {
	truth.claims--
	truth.tries--
	truth.claimed, truth.due = nil, 0
	if now == nil { // it has expired, or is cancelled as hopeless
		return
	}
	if now.State != Waiting || now.Attempts != task.Attempts-1 || now.Tries != truth.tries ||
		now.Charged != task.Charged || now.Last != task.Last || now.SameError != task.SameError ||
		now.Delay() != (Timer{}) {
		t.Fatalf("%s is not as before its claim:\n%+v\nwas:\n%+v", task.ID, now, task)
	}
}

// checkEnd checks how the attempt of task has ended.
func (m *machine) checkEnd(t *rapid.T, v *verb, task *Task, last Attempt, over End) {
	a := m.tasks[task.ID].claimed
	want := over
	if v.said != "" && v.ends[task.ID] {
		want = v.said
	} else if v.ends[task.ID] && over == "" {
		want = Cancelled
	} else {
		a.said = ""
	}
	if v.name == "cancel" {
		a.said = ""
	}

	switch {
	case task.Claim.Stop == Cancelled:
		want = Cancelled
	case want == Cancelled && v.name == "cancel":
	case a.intends != nil:
		want = a.intends.End
	case task.Claim.Stop == Released && want.Failure():
		want = Released
	}
	if last.End != want || last.Epoch != a.epoch || last.Judged != (a.said == "") {
		t.Fatalf("attempt %d of %s has ended %+v, want %s, %q", a.epoch, task.ID, last, want, a.said)
	}
}

// checkBegun checks a new claim.
func (m *machine) checkBegun(t *rapid.T, v *verb, task *Task, before, after Queue) {
	truth, epoch := m.tasks[task.ID], task.Claim.Epoch
	switch {
	case v.claims == nil || v.named != "" && v.named != task.ID:
		t.Fatalf("%s has claimed %s", v.name, task.ID)
	case m.attempts[epoch] != nil || epoch != after.LastEpoch:
		t.Fatalf("epoch %d is given twice, or is not the last", epoch)
	case len(before.Halts) > 0:
		t.Fatalf("%s is claimed while the queue is halted", task.ID)
	case len(task.After) > 0:
		t.Fatalf("%s is claimed, and waits for %v", task.ID, task.After)
	case v.at == here && truth.dueBoot == m.w.boot && m.w.mono < truth.due:
		t.Fatalf("%s is claimed %d ms too early", task.ID, truth.due-m.w.mono)
	}

	a := &attempt{claimer: *v.claims, epoch: epoch, boot: m.w.boot, mono: m.w.mono, wall: m.w.wall,
		blind: v.at != here}
	m.attempts[epoch], truth.claimed = a, a
	truth.claims++
	if truth.tries++; truth.tries > triesPerFailure*truth.most {
		t.Fatalf("%s is tried for the %dth time", task.ID, truth.tries)
	}
	m.checkFirst(t, v, task, before)
}

// checkFirst checks that none that was ready is before task, which was claimed.
func (m *machine) checkFirst(t *rapid.T, v *verb, task *Task, before Queue) {
	if v.named != "" {
		return
	}

	seen := m.seen(v.at)
	passed, _ := before.Pass(seen)
	rank := func(t *Task) int64 {
		if each := passed.Policy.AgeAfter; each > 0 {
			return t.Priority - int64(max(0, seen.Now.Sub(t.EnqueuedAt))/each)
		}
		return t.Priority
	}
	for _, other := range passed.Tasks {
		if other.ID != task.ID && len(passed.Holds(other, seen)) == 0 && (rank(other) < rank(task) ||
			rank(other) == rank(task) && other.Seq < task.Seq) {
			t.Fatalf("%s is claimed before %s:\n%s", task.ID, other.ID, passed.Encode())
		}
	}
}

// checkAccounts checks that each task that was ever added is in one place, that no place has
// another, and that none has lost its place in the line.
func (m *machine) checkAccounts(t *rapid.T, v *verb, before, after Queue) {
	places := make(map[string]int)
	for _, task := range after.Tasks {
		places[task.ID]++
		if truth := m.tasks[task.ID]; truth != nil && truth.seq != task.Seq {
			t.Fatalf("%s was the %dth, and is the %dth", task.ID, truth.seq, task.Seq)
		}
		told := !slices.ContainsFunc(after.Alerts(), func(a Alert) bool { return a.Task == task.ID })
		if dead := task.State == Dead; told != (!dead || m.alerted[task.Last.Epoch]) {
			t.Fatalf("%s is %s, told: %v:\n%s", task.ID, task.State, told, after.Encode())
		}
		if (task.State == Claimed) != (task.Claim != nil) {
			t.Fatalf("%s is %s with the claim %v", task.ID, task.State, task.Claim)
		}
	}
	for _, e := range after.Ended {
		places[e.ID]++
		if e.End == EndedExpired && m.tasks[e.ID].claims > 0 {
			t.Fatalf("%s has expired after %d claims", e.ID, m.tasks[e.ID].claims)
		}
		if e.End == EndedDone && e.Last.End != Done {
			t.Fatalf("%s is done, by an attempt that is %s", e.ID, e.Last.End)
		}
	}
	for id := range m.past {
		places[id]++
	}

	for _, id := range m.known() {
		if places[id] != 1 {
			t.Fatalf("%s has %s in %d places:\n%s", v.name, id, places[id], after.Encode())
		}
		delete(places, id)
	}
	for id := range places {
		if v.name != "enqueue" || places[id] != 1 || before.Task(id) != nil {
			t.Fatalf("%s has made %s", v.name, id)
		}
	}
}

// checkHolds checks that a task is held by a reason or ready, and that somebody who asks gets a
// task if one is ready.
func (m *machine) checkHolds(t *rapid.T, after Queue, seen Seen) {
	ready := 0
	for _, task := range after.Tasks {
		holds := after.Holds(task, seen)
		ahead, isReady := after.Ready(task, seen)
		if isReady != (len(holds) == 0) || isReady && task.State != Waiting || ahead < 0 {
			t.Fatalf("%s is %s, held by %v, ready: %t", task.ID, task.State, holds, isReady)
		}
		if isReady {
			ready++
		}
	}

	_, task, err := after.Claim(Claimer{Participant: "another"}, "", seen)
	if err != nil || (task != nil) != (ready > 0) {
		t.Fatalf("%d tasks are ready, and claimed is %v, %v:\n%s", ready, task, err, after.Encode())
	}
	if task != nil && slices.ContainsFunc(after.Tasks, func(t *Task) bool { return t == task }) {
		t.Fatalf("a claim has changed the task %s that it was given", task.ID)
	}
}
