package queue

import (
	"slices"

	"pgregory.net/rapid"
)

// What holds after every edit of a queue of questions.

// edit makes v, which may ask q, and checks what it did. It reports whether that was not refused.
func (d *desk) edit(t *rapid.T, v *deskVerb, q Question) bool {
	before, seen := d.asks, d.seenFrom(v.at)
	text := before.Encode()
	after, err := v.do(before, seen)
	t.Logf("%s of %s, %s: %v", v.name, v.id, v.at, err)
	d.checkEdit(t, before, after, text, err)
	if err != nil {
		return false
	}
	if again, err := after.Pass(seen); err != nil || again.Encode() != after.Encode() {
		t.Fatalf("a pass after %s: %v\n%s\nwas:\n%s", v.name, err, again.Encode(), after.Encode())
	}

	for _, r := range after.Effects().Remember {
		if r.Seq <= d.remembered || r.Decision != nil && r.Decision.Rule.Number > 0 {
			t.Fatalf("%s has the number %d, after %d: %+v", r.ID, r.Seq, d.remembered, r.Decision)
		}
		d.remembered = r.Seq
		d.past[r.ID] = r
	}
	c := after.Counters
	if c.Enqueued != int64(len(after.Tasks))+c.Ended() || c.Enqueued != after.LastSeq {
		t.Fatalf("a question is lost, or there twice:\n%s", after.Encode())
	}
	d.checkEnded(t, v, q, before, after)
	d.checkOpen(t, v, q, before, after)
	d.asks = d.checkFile(t, after)
	return true
}

// checkEdit checks what every edit does and leaves.
func (d *desk) checkEdit(t *rapid.T, before, after Queue, text string, err error) {
	if before.Encode() != text {
		t.Fatalf("what it was given has changed:\n%s\nwas:\n%s", before.Encode(), text)
	}
	same := after.Encode() == text
	if err != nil && !same || (after.Revision == before.Revision) != same ||
		after.Revision > before.Revision+1 {
		t.Fatalf("revision %d follows %d, %v:\n%s", after.Revision, before.Revision, err, after.Encode())
	}
}

// gone reports whether an observer at p finds that a asks the question id no longer.
func (d *desk) gone(a *askerTruth, id string, p place) bool {
	if a.at.Task != "" {
		return !d.unreadable && !d.waits(a.at.Task, a.at.Epoch, QuestionName("ask", id))
	}
	return d.over(a.asker, p) != "" || d.over(a.waiter, p) != ""
}

// checkEnded checks why questions have ended, and notes that they have.
func (d *desk) checkEnded(t *rapid.T, v *deskVerb, q Question, before, after Queue) {
	n := int(after.Counters.Ended() - before.Counters.Ended())
	left := slices.Clone(before.Tasks)
	for _, e := range after.Ended[len(after.Ended)-n:] {
		i := slices.IndexFunc(left, func(t *Task) bool { return t.ID == e.ID })
		if i < 0 { // it was asked and decided by a rule at once
			if v.name != "ask" || v.id != e.ID || v.end != e.End {
				t.Fatalf("%s was never asked and is %s", e.ID, e.End)
			}
			d.questions[after.LastSeq] = &questionTruth{id: e.ID, kind: q.Kind, end: e.End}
			continue
		}

		task := left[i]
		left = slices.Delete(left, i, i+1)
		truth := d.questions[task.Seq]
		if truth == nil || truth.end != "" {
			t.Fatalf("%s has ended twice, or was never asked: %+v", e.ID, truth)
		}
		if !d.mayEnd(v, task, truth, e.End) || e.Decision == nil || truth.kind.misfits(e.End) {
			t.Fatalf("%s is %s by %s, which is no reason: %+v\n%s", e.ID, e.End, v.name, e.Decision,
				before.Encode())
		}
		truth.end = e.End
	}
}

// mayEnd reports whether v may end task so.
func (d *desk) mayEnd(v *deskVerb, task *Task, truth *questionTruth, end TaskEnd) bool {
	told := v.id == task.ID && v.end == end
	switch end {
	case EndedTimedOut:
		return d.over(truth.expires, v.at) == TimedOut
	case EndedWithdrawn:
		if told && v.asker == "*" {
			return true
		}
		return !slices.ContainsFunc(task.Ask.Askers, func(a Asker) bool {
			return !d.gone(d.askers[a.Participant], task.ID, v.at) && !(told && v.asker == a.Participant)
		})
	}
	return told
}

// checkOpen checks that questions that are open have those askers who still ask, and notes new
// ones.
func (d *desk) checkOpen(t *rapid.T, v *deskVerb, q Question, before, after Queue) {
	for _, task := range after.Tasks {
		truth := d.questions[task.Seq]
		if truth == nil {
			if v.name != "ask" || task.Seq != after.LastSeq {
				t.Fatalf("%s has asked %s", v.name, task.ID)
			}
			expires := &attempt{claimer: claimer{Claimer: Claimer{Deadline: q.Expires}}, boot: d.w.boot,
				mono: d.w.mono, wall: d.w.wall, blind: v.at != here}
			truth = &questionTruth{id: task.ID, kind: q.Kind, expires: expires}
			d.questions[task.Seq] = truth
			if v.renews != nil {
				d.noteAsker(v, v.renews.at)
			}
		}

		if task.State != Open || task.Claim != nil || len(task.Ask.Askers) == 0 || truth.end != "" ||
			d.over(truth.expires, v.at) == TimedOut {
			t.Fatalf("%s is open, and %+v:\n%s", task.ID, truth, after.Encode())
		}
		d.checkAskers(t, v, before.Task(task.ID), task)
	}
}

func (d *desk) checkAskers(t *rapid.T, v *deskVerb, before, task *Task) {
	there := make(map[string]bool)
	for _, a := range task.Ask.Askers {
		if there[a.Participant] || d.gone(d.askers[a.Participant], task.ID, v.at) {
			t.Fatalf("%s asks %s, twice or no longer", a.Participant, task.ID)
		}
		there[a.Participant] = true
	}
	if before == nil || before.Seq != task.Seq {
		return
	}

	for _, a := range before.Ask.Askers {
		withdrawn := v.id == task.ID && v.asker == a.Participant
		if !there[a.Participant] && !withdrawn && !d.gone(d.askers[a.Participant], task.ID, v.at) {
			t.Fatalf("%s has removed %s, who asks %s", v.name, a.Participant, task.ID)
		}
	}
}

// checkAsked checks what has become of q, which was asked as id: it is open, with its asker, or was
// decided, as one of its kind is.
func (d *desk) checkAsked(t *rapid.T, q Question, id string) {
	if task := d.asks.Task(id); task != nil {
		if q.Ruled != nil || task.Ask.Kind != q.Kind || task.SpecHash() != q.Spec.Hash() ||
			!slices.ContainsFunc(task.Ask.Askers, q.Asker.same) {
			t.Fatalf("%+v is asked as\n%s", q, d.asks.Encode())
		}
		return
	}

	end, spec := d.past[id].End, d.past[id].Spec
	if e, ok := d.asks.EndedTask(id); ok {
		end, spec = e.End, e.Spec
	}
	if !end.Decided() || q.Kind.misfits(end) || spec != q.Spec.Hash() {
		t.Fatalf("%+v has the answer %q to %s", q, end, spec)
	}
}
