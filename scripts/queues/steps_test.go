package queues

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// TestSteps makes edits as package queue makes them, which the check of revisions finds right, and
// changes what they have made: then it finds that.
func TestSteps(t *testing.T) {
	must := func(q queue.Queue, err error) queue.Queue {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	claim := func(q queue.Queue) queue.Queue {
		t.Helper()
		after, _, err := q.Claim(queue.Claimer{Participant: "w"}, "", queue.Seen{})
		return must(after, err)
	}
	settle := func(q queue.Queue, end queue.End) queue.Queue {
		t.Helper()
		return must(q.Settle(queue.Settlement{Task: "a", Epoch: 1, Outcome: queue.Outcome{End: end}},
			queue.Seen{}))
	}

	q := queue.Create("q")
	q.Policy.Backoff = []time.Duration{0}
	added := must(q.Enqueue([]queue.New{{ID: "a", Spec: "{}", Group: "g"},
		{ID: "b", Spec: "{}", Group: "g"}, {ID: "c", Spec: "{}"}}, queue.Seen{}))
	claimed := claim(added)
	failed, done := settle(claimed, queue.Failed), settle(claimed, queue.Done)

	hopeless := added
	hopeless.Policy.OnDeadDependency = queue.DependencyCancel
	hopeless = must(hopeless.Cancel([]string{"c"}, "me", "", queue.Seen{}))
	passed := must(hopeless.Enqueue([]queue.New{{ID: "d", Spec: "{}", After: []string{"c"}},
		{ID: "e", Spec: "{}"}}, queue.Seen{}))

	seen := queue.Seen{Question: func(string) queue.QuestionState {
		return queue.QuestionState{Known: true, End: queue.EndedAllowed}
	}}
	park := func(end queue.End) queue.Queue {
		return must(claimed.Settle(queue.Settlement{Task: "a", Epoch: 1,
			Outcome: queue.Outcome{End: end, Question: "ask/q1"}}, queue.Seen{}))
	}
	parked, uncertain := park(queue.Asked), park(queue.Uncertain)
	answered, judged := must(parked.Pass(seen)), must(uncertain.Pass(seen))

	asks := queue.Create("ask")
	question := queue.Question{ID: "q1", Kind: queue.AskPermission, Key: "k", Spec: "{}",
		Asker: queue.Asker{Participant: "w"}}
	open, id, err := asks.Ask(question, queue.Seen{})
	open = must(open, err)
	question.Ruled, question.RuledEnd = &queue.Rule{File: "/r", Number: 1}, queue.EndedDenied
	ruled, _, err := asks.Ask(question, queue.Seen{})
	ruled = must(ruled, err)
	allowed := must(open.Answer(id, queue.Answer{End: queue.EndedAllowed, By: "ada",
		Shown: open.Task(id).Shown("ask").Hash()}, queue.Seen{}))
	withdrawn := must(open.Withdraw(id, question.Asker, queue.Seen{}))
	question.Ruled, question.ID = nil, "q2"
	reasked, _, err := withdrawn.Ask(question, queue.Seen{})
	reasked = must(reasked, err)

	own := func(q queue.Queue, i int, change func(*queue.Task)) queue.Queue {
		task := *q.Tasks[i]
		change(&task)
		q.Tasks = append([]*queue.Task(nil), q.Tasks...)
		q.Tasks[i] = &task
		return q
	}
	claimOf := func(epoch int64) func(*queue.Task) {
		return func(task *queue.Task) {
			task.State, task.Claim, task.Attempts = queue.Claimed, &queue.Claim{Epoch: epoch}, 1
		}
	}

	for _, test := range []struct {
		name          string
		before, after queue.Queue
		want          string // in what is found; "": nothing is
	}{
		{"enqueue", q, added, ""},
		{"claim", added, claimed, ""},
		{"settle", claimed, failed, ""},
		{"done", claimed, done, ""},
		{"added, and cancelled at once", hopeless, passed, ""},
		{"cancelled at once, and done", hopeless, func() queue.Queue {
			after := passed
			after.Ended = slices.Clone(passed.Ended)
			after.Ended[len(after.Ended)-1].End = queue.EndedDone
			return after
		}(), "the last seq is"},
		{"parked", claimed, parked, ""},
		{"answered", parked, answered, ""},
		{"said to be done", uncertain, judged, ""},
		{"asked", asks, open, ""},
		{"decided by a rule", asks, ruled, ""},
		{"allowed", open, allowed, ""},
		{"withdrawn", open, withdrawn, ""},
		{"asked again", withdrawn, reasked, ""},
		{"asked again with the id of one that has ended", allowed, func() queue.Queue {
			after := open
			after.Revision++
			after.Ended = allowed.Ended
			after.Counters = allowed.Counters
			after.Counters.Enqueued++
			return after
		}(), "or again"},
		{"answered, and charged", parked,
			own(answered, 0, func(task *queue.Task) { task.Charged++ }), "and is waiting"},
		{"done without an answer", parked, judged, "by nobody"},
		{"a question without a decision", open, func() queue.Queue {
			after := allowed
			after.Ended = slices.Clone(allowed.Ended)
			after.Ended[0].Decision = nil
			return after
		}(), "which asks"},
		{"a task ends like a question", claimed, func() queue.Queue {
			after := done
			after.Ended = slices.Clone(done.Ended)
			after.Ended[0].Decision = &queue.Decision{}
			return after
		}(), "which asks"},
		{"a revision is left out", added, failed, "it follows"},
		{"an edit is lost", added, added, "it follows"},
		{"a retry goes to the tail", claimed, own(failed, 0, func(task *queue.Task) { task.Seq = 4 }),
			"lost its place"},
		{"a group does not hold", added, own(own(claimed, 1, claimOf(1)), 0, func(task *queue.Task) {
			*task = *added.Tasks[0]
		}), "it is held"},
		{"not the first", added, own(own(claimed, 2, claimOf(1)), 0, func(task *queue.Task) {
			*task = *added.Tasks[0]
		}), "was claimed before a"},
		{"two claims of an epoch", added, own(claimed, 2, func(task *queue.Task) {
			claimOf(7)(task)
		}), "with the epoch 7"},
		{"a claim is taken away", claimed, own(failed, 0, func(task *queue.Task) {
			task.Last = queue.Attempt{}
		}), "is over, but the last one"},
		{"an attempt is settled again", failed, own(added, 0, func(task *queue.Task) {
			task.Last = queue.Attempt{Epoch: 1, End: queue.Done}
		}), "but none was settled"},
		{"done by nobody", added, done, "by nobody"},
		{"forgotten", done, func() queue.Queue {
			after := done
			after.Revision++
			after.Ended = nil
			return after
		}(), "are kept"},
	} {
		got := strings.Join(step(test.before, test.after), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
		}
	}
}
