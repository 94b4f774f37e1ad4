package queue

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Settlement says how an attempt ended (spec §35.3).
type Settlement struct {
	Task  string
	Epoch int64
	Outcome
	// The attempt goes on, and this is what it says itself: it counts when the attempt has ended.
	// Without an end it takes back what it has said before.
	Later   bool
	Report  string                // kept beside the queue; "": none
	Publish []observe.Publication // files that appear with the end Done
}

// Settle returns q with the attempt settled. It returns q unchanged if the attempt was settled so
// before. The errors are ErrNoTask; ErrLost if the claim is over, because others have found its
// claimer dead, or a later one was made; ErrSettled if it was settled with another end.
//
// The claim is judged after it is settled: whoever has the epoch is heard, even for a claimer that
// has just exited.
func (q Queue) Settle(s Settlement, seen Seen) (Queue, error) {
	e, err := q.begin("settle", seen)
	if err != nil {
		return q, err
	}

	i := q.index(s.Task)
	if i < 0 || q.Tasks[i].Claim == nil || q.Tasks[i].Claim.Epoch != s.Epoch {
		return q.unchanged(), q.settledBefore(s, seen)
	}

	if s.Report != "" {
		e.q.effects.Reports = []Report{{s.Task, s.Epoch, s.Report}}
		e.changed = true // also if nothing else was said
	}
	c := *q.Tasks[i].Claim
	e.publish(s, c)
	switch {
	case !s.Later:
		e.settle(i, s.Outcome, false)
	case s.End == "" && c.Intent != nil:
		c.Intent = nil
		e.own(i).Claim = &c
	case s.End == "":
	case c.Intent == nil || *c.Intent != s.Outcome:
		c.Intent = &s.Outcome
		e.own(i).Claim = &c
	}

	e.pass()
	return e.end()
}

// publish asks for the files of s to appear, if the attempt of c is done.
func (e *edit) publish(s Settlement, c Claim) {
	done := s.End == Done && c.Stop != Cancelled
	if !s.Later {
		done = c.resolve(s.Outcome).End == Done
	}
	if done && len(s.Publish) > 0 {
		again := c.Intent != nil && c.Intent.End == Done
		e.q.effects.Publish, e.q.effects.PublishAgain = s.Publish, again
		e.changed = true // also if the same was said before, without files
	}
}

// Unclaim returns q as if the claim epoch of the task id had not been made, because what was
// claimed could not be begun (spec §35.8). Only its number stays used, and an attempt that was
// cancelled, or has said how it ends, ends so. The errors are ErrNoTask and ErrLost.
func (q Queue) Unclaim(id string, epoch int64, seen Seen) (Queue, error) {
	e, err := q.begin("unclaim", seen)
	if err != nil {
		return q, err
	}

	i := q.index(id)
	switch {
	case i < 0 && errors.Is(q.missing(id, seen), ErrNoTask):
		return q.unchanged(), ErrNoTask
	case i < 0 || q.Tasks[i].Claim == nil || q.Tasks[i].Claim.Epoch != epoch:
		return q.unchanged(), ErrLost
	case q.Tasks[i].Claim.Stop == Cancelled || q.Tasks[i].Claim.Intent != nil:
		e.settle(i, Outcome{End: Released}, false)
	default:
		e.unclaim(i)
	}

	e.pass()
	return e.end()
}

// unclaim takes back the claim of task i.
func (e *edit) unclaim(i int) {
	t := e.own(i)
	t.State, t.Claim = Waiting, nil
	t.Attempts = max(0, t.Attempts-1)
	t.Tries = max(0, t.Tries-1)
	if p := &e.q.Permits; p.Limited {
		p.Left = min(p.Left+1, wire.LastRevision)
	}
	e.countEnd(Unclaimed)
}

// settledBefore returns nil if s repeats what was settled.
func (q Queue) settledBefore(s Settlement, seen Seen) error {
	var last Attempt
	if t := q.Task(s.Task); t != nil {
		last = t.Last
	} else if ended, ok := q.EndedTask(s.Task); ok {
		last = ended.Last
	} else if _, past := q.endOf(s.Task, seen); !past {
		return ErrNoTask
	}

	switch {
	case last.Epoch != s.Epoch || last.Epoch == 0 || last.Judged:
		return ErrLost
	case last.End != s.End:
		return fmt.Errorf("%w: %s", ErrSettled, last.End)
	}
	return nil
}

// settle ends the attempt of task i with o, or with what was asked of it before. judged says that
// others have found that it had ended.
func (e *edit) settle(i int, o Outcome, judged bool) {
	t := e.own(i)
	c := t.Claim
	o = c.resolve(o)
	ran := max(0, e.seen.Age(c.At, c.Beat))
	e.countEnd(o.End)
	counters := &e.q.Counters
	counters.Ran = sum(counters.Ran, ran)
	counters.LongestRun = max(counters.LongestRun, ran)

	if t.Last.Epoch != 0 && t.Last.End == o.End && t.Last.Status == o.Status &&
		t.Last.Reason == o.Reason && o.End.Failure() {
		t.SameError++
	} else {
		t.SameError = 0
	}

	t.Claim, t.State, t.Question, t.delay = nil, Waiting, "", timerMember{}
	t.Last = Attempt{Epoch: c.Epoch, End: o.End, Status: o.Status, Reason: o.Reason, Judged: judged,
		By: c.Participant, At: e.seen.Now, Ran: ran}
	seen := e.seen.Observation

	switch o.End.consequence() {
	case taskDone:
		e.q.Failures = 0
		e.finish(i, EndedDone)
		return
	case cancel:
		e.finish(i, EndedCancelled)
		return
	case block:
		t.State, t.Question = Blocked, o.Question
		t.Reason, e.emptied = cmp.Or(o.Reason, string(o.End)), true
		e.haltBy(string(Asked), 0, "task "+t.ID+because(t.Reason))
	case chargedRetry:
		e.charge(t)
	case freeRetry:
		t.delay.Timer = startTimer(e.q.Policy.backoff(t.Tries), seen)
	case snooze:
		t.Tries = max(0, t.Tries-1)
		t.delay.Timer = startTimer(o.Delay, seen)
	}

	if o.End == NotStarted || o.End == TimedOut {
		e.haltBy(string(o.End), 0, "task "+t.ID+because(o.Reason))
	}
	if t.State == Waiting {
		e.judgeBudget(t)
	}
	if o.End.Failure() {
		e.haltBy("failures", e.q.Failures, "task "+t.ID)
	}
}

// charge counts a failure of t, which then waits for its backoff.
func (e *edit) charge(t *Task) {
	t.Charged++
	e.q.Failures++
	t.delay.Timer = startTimer(e.q.Policy.backoff(t.Charged), e.seen.Observation)
}

// judgeBudget marks t dead if its attempts are used up.
func (e *edit) judgeBudget(t *Task) {
	most := e.q.maxAttempts(t)
	if t.Charged < most && t.Tries < triesPerFailure*most {
		return
	}

	t.State, t.delay = Dead, timerMember{}
	e.q.Counters.Dead++
	e.q.Dead++
	e.emptied = true
	e.haltBy("dead", e.q.Dead, "task "+t.ID)
}

// resolve returns o, or the end that was asked of the attempt of c before: a cancelled attempt is
// cancelled however it ends; what it has said itself counts; and one that was to be released is not
// charged.
func (c *Claim) resolve(o Outcome) Outcome {
	switch {
	case c.Stop == Cancelled:
		return Outcome{End: Cancelled, Status: o.Status, Reason: c.StopReason}
	case c.Intent != nil:
		return *c.Intent
	case c.Stop == Released && (o.End.Failure() || o.End == Released):
		return Outcome{End: Released, Status: o.Status, Reason: c.StopReason}
	}
	return o
}

// countEnd counts the end of a claim.
func (e *edit) countEnd(end End) {
	counters := &e.q.Counters
	counters.Ends = append([]EndCount(nil), counters.Ends...)
	counted := false
	for i := range counters.Ends {
		if counters.Ends[i].End == end {
			counters.Ends[i].Count++
			counted = true
		}
	}
	if !counted {
		counters.Ends = append(counters.Ends, EndCount{end, 1})
	}
}

// sum returns the sum of a and b, or the longest duration that a file can hold.
func sum(a, b time.Duration) time.Duration {
	if a > wire.Longest-b {
		return wire.Longest
	}
	return a + b
}
