package status

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

func queueInShort(q model.Queue) cli.Object {
	return append(append(cli.Object{{"queueId", q.ID}, {"state", q.State()},
		{"revision", q.Revision}}, counts(q)...), cli.Member{"oldestWaitMs", oldestWait(q)})
}

func counts(q model.Queue) cli.Object {
	c := q.Count()
	return cli.Object{{"waiting", c.Waiting}, {"ready", c.Ready}, {"claimed", c.Claimed},
		{"blocked", c.Blocked}, {"dead", c.Dead}, {"open", c.Open}}
}

func oldestWait(q model.Queue) any {
	if age, any := q.OldestWait(); any {
		return age.Milliseconds()
	}
	return nil
}

// queueObject returns how q is judged now, and the members of its file before the tasks.
func queueObject(q model.Queue, tasks []model.Task) cli.Object {
	return cli.Object{
		{"queueId", q.ID}, {"state", q.State()}, {"revision", q.Revision}, {"empty", q.Idle()},
		{"counts", counts(q)}, {"oldestWaitMs", oldestWait(q)},
		{"oldest", objects(q.Oldest(), oldest)}, {"throughput", throughput(q)},
		{"lastReport", lastReport(q.Report)}, {"queue", jsontext.Value(q.EncodeHead())},
		{"tasks", objects(tasks, taskObject)}, {"ended", objects(q.Ended, endedObject)},
	}
}

func lastReport(r *model.Report) any {
	if r == nil {
		return nil
	}
	return cli.Object{{"taskId", r.Task}, {"epoch", r.Epoch}, {"path", r.Path}}
}

func oldest(o model.Oldest) cli.Object {
	return cli.Object{{"priority", o.Priority}, {"waiting", o.Waiting}, {"taskId", o.ID},
		{"enqueuedAt", wire.FormatTime(o.EnqueuedAt)}}
}

// throughput returns how fast tasks are done. A mean that is not known is null.
func throughput(q model.Queue) cli.Object {
	known := func(d time.Duration, known bool) any {
		if !known {
			return nil
		}
		return d.Milliseconds()
	}
	minute, _ := q.DoneWithin(time.Minute)
	hour, all := q.DoneWithin(time.Hour)
	return cli.Object{{"doneInLastMinute", minute}, {"doneInLastHour", hour},
		{"allOfLastHour", all}, {"meanWaitMs", known(q.MeanWait())},
		{"meanRunMs", known(q.MeanRun())}}
}

// taskObject returns how t is judged now, the attempts at it that are over, and its object in the
// file.
func taskObject(t model.Task) cli.Object {
	history := cli.Member{"history", objects(t.Attempts, attemptObject)}
	if !t.Live() {
		return append(endedObject(t.Ended), history)
	}

	p, seen := t.Place, t.Queue.Seen
	var ahead, age, verdict, why any
	if p.Ready() {
		ahead = p.Ahead
	}
	evidence := []string{}
	if p.Claim != nil {
		judged := t.Judged()
		age, verdict = judged.Age.Milliseconds(), judged.Verdict()
		why = cli.OrNull(judged.Judgement.Reason)
		evidence = append(evidence, explain.ClaimEvidence(judged)...)
	}
	return cli.Object{
		{"taskId", p.ID}, {"state", p.State}, {"ready", p.Ready()}, {"ahead", ahead},
		{"holds", objects(p.Holds, hold)}, {"ageMs", age}, {"verdict", verdict},
		{"verdictReason", why}, {"evidence", evidence}, {"delay", timer(p.Delay(), seen)},
		{"expiry", timer(p.Expiry(), seen)}, history, {"task", jsontext.Value(p.Encode())},
	}
}

func timer(t queue.Timer, seen queue.Seen) any {
	if t.At.IsZero() {
		return nil
	}
	return cli.Object{{"at", wire.FormatTime(t.At)}, {"forMs", t.For.Milliseconds()},
		{"leftMs", t.Left(seen.Observation).Milliseconds()}}
}

// statusOf returns the exit status of a, or nil if it is not known how a ended.
func statusOf(a queue.Attempt) any {
	if a.End == "" {
		return nil
	}
	return a.Status
}

func hold(h queue.Hold) cli.Object {
	o := cli.Object{{"kind", h.Kind}, {"by", cli.OrNull(h.By)}, {"reason", cli.OrNull(h.Reason)},
		{"task", cli.OrNull(h.Task)}, {"state", cli.OrNull(h.State)},
		{"until", stampOrNull(h.Until)}, {"leftMs", nil}, {"claimed", cli.OrNull(h.Claimed)}}
	if h.Left > 0 {
		o[6][1] = h.Left.Milliseconds()
	}
	return o
}

func attemptObject(a model.Attempt) cli.Object {
	return cli.Object{{"epoch", a.Epoch}, {"end", cli.OrNull(a.End)}, {"status", statusOf(a.Attempt)},
		{"reason", cli.OrNull(a.Reason)}, {"judged", a.Judged}, {"log", cli.OrNull(a.Log)},
		{"report", cli.OrNull(a.Report)}, {"participant", cli.OrNull(a.Participant)},
		{"startedAt", stampOrNull(a.StartedAt)}, {"endedAt", stampOrNull(a.EndedAt)},
		{"operationReason", cli.OrNull(explain.Because(a))}}
}

func endedObject(e queue.Ended) cli.Object {
	return cli.Object{{"taskId", e.ID}, {"state", e.End}, {"task", jsontext.Value(e.Encode())}}
}
