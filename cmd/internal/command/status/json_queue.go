package status

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/observe"
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

// queueObject returns what the file of q says and how it is judged now, under the names of the
// file.
func queueObject(q model.Queue, tasks []model.Task) cli.Object {
	var permits any
	if q.Permits.Limited {
		permits = q.Permits.Left
	}
	return cli.Object{
		{"queueId", q.ID}, {"state", q.State()}, {"revision", q.Revision},
		{"empty", q.Idle()}, {"closed", q.Closed},
		{"policy", policy(q.Policy)}, {"goal", goal(q.Goal)}, {"halts", objects(q.Halts, halt)},
		{"permits", permits}, {"counts", counts(q)}, {"oldestWaitMs", oldestWait(q)},
		{"oldest", objects(q.Oldest(), oldest)}, {"counters", counters(q.Counters)},
		{"throughput", throughput(q)}, {"lastReport", lastReport(q.Report)},
		{"tasks", objects(tasks, taskObject)},
		{"ended", objects(q.Ended, endedObject)},
	}
}

func lastReport(r *model.Report) any {
	if r == nil {
		return nil
	}
	return cli.Object{{"taskId", r.Task}, {"epoch", r.Epoch}, {"path", r.Path}}
}

func policy(p queue.Policy) cli.Object {
	backoff := []int64{}
	for _, d := range p.Backoff {
		backoff = append(backoff, d.Milliseconds())
	}
	rules := []string{}
	for _, r := range p.HaltOn {
		rules = append(rules, r.String())
	}
	return cli.Object{{"slots", p.Slots}, {"maxAttempts", p.MaxAttempts}, {"backoffMs", backoff},
		{"onDeadDependency", p.OnDeadDependency}, {"haltOn", rules}, {"depth", p.Depth},
		{"ageAfterMs", p.AgeAfter.Milliseconds()},
		{"rememberForMs", p.RememberFor.Milliseconds()}}
}

func goal(g *queue.Goal) any {
	if g == nil {
		return nil
	}
	return cli.Object{{"description", g.Description}, {"completed", g.Completed}}
}

func halt(h queue.Halt) cli.Object {
	return cli.Object{{"by", h.By}, {"reason", h.Reason}, {"details", h.Details},
		{"at", stampOrNull(h.At)}, {"automatic", h.Automatic}, {"alerted", h.Alerted}}
}

func oldest(o model.Oldest) cli.Object {
	return cli.Object{{"priority", o.Priority}, {"waiting", o.Waiting}, {"taskId", o.ID},
		{"enqueuedAt", wire.FormatTime(o.EnqueuedAt)}}
}

func counters(c queue.Counters) cli.Object {
	ends := cli.Object{}
	for _, e := range c.Ends {
		ends = append(ends, cli.Member{string(e.End), e.Count})
	}
	return cli.Object{{"enqueued", c.Enqueued}, {"claimed", c.Claimed}, {"done", c.Done},
		{"dead", c.Dead}, {"cancelled", c.Cancelled}, {"expired", c.Expired}, {"ends", ends},
		{"allowed", c.Allowed}, {"denied", c.Denied}, {"answered", c.Answered},
		{"timedOut", c.TimedOut}, {"withdrawn", c.Withdrawn}, {"firstClaims", c.FirstClaims},
		{"waitedMs", c.Waited.Milliseconds()}, {"longestWaitMs", c.LongestWait.Milliseconds()},
		{"ranMs", c.Ran.Milliseconds()}, {"longestRunMs", c.LongestRun.Milliseconds()}}
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

// taskObject returns a task, with what holds it, who has it, and the attempts at it that are over.
func taskObject(t model.Task) cli.Object {
	history := cli.Member{"history", objects(t.Attempts, attemptObject)}
	if !t.Live() {
		return append(endedObject(t.Ended), cli.Member{"state", t.State()}, history)
	}

	p := t.Place
	var ahead any
	if p.Ready() {
		ahead = p.Ahead
	}
	seen := t.Queue.Seen
	return append(cli.Object{
		{"taskId", p.ID}, {"seq", p.Seq}, {"state", p.State}, {"ready", p.Ready()},
		{"ahead", ahead}, {"holds", objects(p.Holds, hold)}, {"claim", claim(t)},
		{"ask", cli.AskObject(p.Ask)},
		{"priority", p.Priority}, {"spec", spec(p.Task)}, {"key", cli.OrNull(p.Key)},
		{"group", cli.OrNull(p.Group)}, {"after", append([]string{}, p.After...)},
		{"enqueuedAt", wire.FormatTime(p.EnqueuedAt)}, {"maxAttempts", cli.OrNull(p.MaxAttempts)},
		{"notBefore", stampOrNull(p.NotBefore)}, {"delay", timer(p.Delay(), seen)},
		{"expiry", timer(p.Expiry(), seen)}, {"attempts", p.Attempts}, {"tries", p.Tries},
		{"charged", p.Charged}}, append(last(p.Last), cli.Object{
		{"sameError", p.SameError}, {"reason", cli.OrNull(p.Reason)},
		{"question", cli.OrNull(p.Question)}, {"alerted", p.Alerted}, history}...)...)
}

func spec(t *queue.Task) any {
	if content, hash, inline := t.Content(); !inline {
		return hash
	} else {
		return jsontext.Value(content)
	}
}

func timer(t queue.Timer, seen queue.Seen) any {
	if t.At.IsZero() {
		return nil
	}
	return cli.Object{{"at", wire.FormatTime(t.At)}, {"forMs", t.For.Milliseconds()},
		{"leftMs", t.Left(seen.Observation).Milliseconds()}}
}

func last(a queue.Attempt) cli.Object {
	return cli.Object{{"lastEpoch", cli.OrNull(a.Epoch)}, {"lastEnd", cli.OrNull(a.End)},
		{"lastStatus", statusOf(a)}, {"lastReason", cli.OrNull(a.Reason)},
		{"lastJudged", a.Judged}, {"lastBy", cli.OrNull(a.By)}, {"lastAt", stampOrNull(a.At)},
		{"lastRanMs", ranMs(a)}}
}

// statusOf returns the exit status of a, or nil if it is not known how a ended.
func statusOf(a queue.Attempt) any {
	if a.End == "" {
		return nil
	}
	return a.Status
}

// ranMs returns how long a ran, or nil if that is not known.
func ranMs(a queue.Attempt) any {
	if a.At.IsZero() {
		return nil
	}
	return a.Ran.Milliseconds()
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

// claim returns who has a task and how that is judged now, or nil.
func claim(t model.Task) any {
	c := t.Place.Claim
	if c == nil {
		return nil
	}
	judged := t.Judged()
	var intent any
	if o := c.Intent; o != nil {
		intent = cli.Object{{"end", o.End}, {"status", o.Status}, {"reason", cli.OrNull(o.Reason)},
			{"question", cli.OrNull(o.Question)}, {"delayMs", o.Delay.Milliseconds()}}
	}
	return cli.Object{
		{"epoch", c.Epoch}, {"at", wire.FormatTime(c.At)}, {"ageMs", judged.Age.Milliseconds()},
		{"participant", c.Participant}, {"pid", cli.OrNull(c.PID)},
		{"process", process(c.Process)}, {"keeper", process(c.Keeper)},
		{"operation", cli.OrNull(c.Operation)}, {"call", cli.OrNull(c.Call)},
		{"deadlineMs", cli.OrNull(c.Deadline.Milliseconds())}, {"stop", cli.OrNull(c.Stop)},
		{"stopReason", cli.OrNull(c.StopReason)}, {"intent", intent},
		{"verdict", judged.Verdict()}, {"verdictReason", cli.OrNull(judged.Judgement.Reason)},
		{"evidence", append([]string{}, explain.ClaimEvidence(judged)...)},
	}
}

func process(p observe.Process) any {
	if !p.Known() {
		return nil
	}
	return cli.Object{{"pid", p.PID}, {"hostId", p.HostID}, {"bootId", p.BootID},
		{"pidNamespace", p.PIDNamespace}, {"startTicks", p.StartTicks}}
}

func attemptObject(a model.Attempt) cli.Object {
	return cli.Object{{"epoch", a.Epoch}, {"end", cli.OrNull(a.End)}, {"status", statusOf(a.Attempt)},
		{"reason", cli.OrNull(a.Reason)}, {"judged", a.Judged}, {"log", cli.OrNull(a.Log)},
		{"report", cli.OrNull(a.Report)}, {"participant", cli.OrNull(a.Participant)},
		{"startedAt", stampOrNull(a.StartedAt)}, {"endedAt", stampOrNull(a.EndedAt)},
		{"operationReason", cli.OrNull(explain.Because(a))}}
}

func endedObject(e queue.Ended) cli.Object {
	return append(append(cli.Object{{"taskId", e.ID}, {"end", e.End},
		{"spec", e.Spec}}, last(e.Last)...),
		cli.Member{"at", wire.FormatTime(e.At)}, cli.Member{"decision", cli.DecisionObject(e.Decision)})
}
