package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol/queue"
)

func queueSubject(q model.Queue) subject {
	c := q.Count()
	s := subject{
		ID: q.ID, State: string(q.State()), Mood: mood(q.State()),
		Headline: "queue, " + explain.Count(q),
		Facts:    queueFacts(q),
		Halts:    halts(q),
		Main:     tree{Heading: "Claims", Lines: planted(claims(q), "claim")},
		More:     tree{Heading: "Blocked and dead tasks", Lines: planted(stuck(q), "task")},
		Timeline: queueLanes(q).timeline(),
		Entries:  endedTasks(q),
	}

	if c.Dead+c.Blocked > 0 {
		s.Mood = "bad"
	}
	s.kind = kindOf(q.State() == queue.Completed)
	if queue.IsAskQueue(q.ID) {
		s.Main = tree{Heading: "Open questions", Lines: planted(questions(q), "question"),
			Empty: "No question is open."}
	} else if len(q.Places) == 0 && !q.Closed {
		s.Main.Empty = "There is no task. This adds one: " + explain.Command("dpl-enqueue", q.ID, "--",
			"COMMAND")
	}
	return s
}

func queueFacts(q model.Queue) []fact {
	var oldest []string
	for _, o := range q.Oldest() {
		oldest = append(oldest, fmt.Sprintf("%s (priority %d), %s", o.ID, o.Priority,
			explain.Ago(q.Seen.Now.Sub(o.EnqueuedAt))))
	}
	const most = 5 // priorities
	return facts(
		"goal", explain.Goal(q),
		"revision", strconv.FormatInt(q.Revision, 10),
		"limits", strings.Join(explain.QueueLimits(q), ", "),
		"speed", strings.Join(explain.Speed(q), "; "),
		"waiting for longest", strings.Join(oldest[:min(len(oldest), most)], "; "),
	)
}

func halts(q model.Queue) (all []string) {
	for _, h := range q.Halts {
		all = append(all, explain.Halt(q, h))
	}
	return all
}

func claims(q model.Queue) (lines []line) {
	for _, c := range q.Claims() {
		claim := c.Place.Claim
		l := line{ID: c.ID, Pills: pills(string(c.State), c.Verdict(), "alive"),
			Details: explain.ClaimEvidence(c),
			Facts: facts("by", claim.Participant, "for", explain.Span(c.Age),
				"epoch", strconv.FormatInt(claim.Epoch, 10),
				"attempt", strconv.FormatInt(c.Attempts, 10)),
			kind: kindOf(false, c.Verdict())}
		if asked := explain.ClaimAsked(c); asked != "" {
			l.Details = append(l.Details, asked)
		}
		lines = append(lines, l)
	}
	return lines
}

func questions(q model.Queue) (lines []line) {
	for _, t := range q.Questions() {
		lines = append(lines, line{ID: t.ID, Pills: []string{string(t.State)},
			Quote: strings.Split(t.Ask.Text, "\n"),
			Facts: facts("kind", string(t.Ask.Kind), "asked by", explain.AskedBy(t),
				"asked", explain.Ago(q.Seen.Now.Sub(t.EnqueuedAt)),
				"left", explain.Span(t.Expiry().Left(q.Seen.Observation)))})
	}
	return lines
}

// mostLines limits the lists of a page: what is longer is not read.
const mostLines = 200

func stuck(q model.Queue) (lines []line) {
	all := q.Stuck()
	for _, p := range all[:min(len(all), mostLines)] {
		l := line{ID: p.ID, Pills: []string{string(p.State)},
			Facts: facts("attempts", strconv.FormatInt(p.Attempts, 10)), kind: inTrouble}
		if p.State == queue.Blocked {
			l.Details = append(l.Details, explain.Hold(queue.Hold{Kind: queue.HeldByPerson,
				Reason: p.Reason, Task: p.Question}))
		}
		if p.Last.Epoch != 0 {
			l.Details = append(l.Details, fmt.Sprintf("epoch %d: %s", p.Last.Epoch,
				explain.AttemptEnd(p.Last)))
		}
		lines = append(lines, l)
	}
	if n := len(all) - mostLines; n > 0 {
		lines = append(lines, line{ID: fmt.Sprintf("and %d more", n)})
	}
	return lines
}

// endedTasks returns the tasks that have ended last, the newest last.
func endedTasks(q model.Queue) *entries {
	var all []entry
	for _, e := range q.Ended[max(len(q.Ended)-mostLines, 0):] {
		h := entry{At: e.At, What: "task " + e.ID, To: string(e.End)}
		if d := e.Decision; d != nil {
			h.What, h.Reason = "question "+e.ID+": "+d.Text, strings.TrimPrefix(explain.DecidedBy(d), " ")
		}
		if e.Last.Epoch != 0 {
			h.What += fmt.Sprintf(", epoch %d", e.Last.Epoch)
		}
		if e.Last.Epoch != 0 && string(e.Last.End) != string(e.End) {
			h.Reason = "last attempt " + explain.AttemptEnd(e.Last)
		}
		all = append(all, h)
	}

	list := entriesOf(all)
	if list != nil {
		what := "task"
		if queue.IsAskQueue(q.ID) {
			what = "question"
		}
		list.Count = explain.Plural(len(all), what) + " that ended last"
	}
	return list
}

// queueLanes draws who works on what since when; the attempts that have ended meanwhile, or lately,
// if they were the last at their tasks; and when tasks have ended.
func queueLanes(q model.Queue) *chart {
	c := &chart{}
	since := q.Seen.Now.Add(-model.Lately)
	for _, claim := range q.Claims() {
		at := claim.Place.Claim.At
		l := c.lane(claim.Place.Claim.Participant, claim.Place.Claim.Participant, "")
		l.spans = append(l.spans, span{state: string(claim.State), from: at,
			why: "task " + claim.ID, text: claim.ID})
		l.weight = living
		if claim.Verdict() != "alive" {
			l.weight = dead
			l.spans[len(l.spans)-1].state = claim.Verdict()
		}
		c.sees(at)
		if at.Before(since) {
			since = at
		}
	}

	c.attempts(q, since)

	var done *lane
	for _, e := range q.Ended[max(len(q.Ended)-mostLines, 0):] {
		if e.At.Before(since) {
			continue
		}
		if done == nil {
			done = c.lane("", "ended", "")
			done.rank, done.weight = -1, root
		}
		m := mark{e.At, "×", "", "task " + e.ID + ": " + string(e.End)}
		if e.End == queue.EndedDone || e.End == queue.EndedAllowed || e.End == queue.EndedAnswered {
			m.sign, m.mood = "✓", "good"
		}
		done.marks = append(done.marks, m)
		c.sees(e.At)
	}

	c.sees(q.Seen.Now)
	slices.SortStableFunc(c.lanes, func(a, b *lane) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(a.label, b.label))
	})
	return c
}

// attempts draws the attempts that have ended since then, in the lanes of their workers.
func (c *chart) attempts(q model.Queue, since time.Time) {
	type attempt struct {
		queue.Attempt
		task string
	}
	var all []attempt
	for _, e := range q.Ended {
		all = append(all, attempt{e.Last, e.ID})
	}
	for _, p := range q.Places {
		all = append(all, attempt{p.Last, p.ID})
	}

	all = slices.DeleteFunc(all, func(a attempt) bool { return a.By == "" || a.At.Before(since) })
	slices.SortStableFunc(all, func(a, b attempt) int { return a.At.Compare(b.At) })
	for _, a := range all[max(len(all)-mostLines, 0):] {
		l := c.lane(a.By, a.By, "")
		why := "task " + a.task
		if a.Reason != "" {
			why += ": " + a.Reason
		}
		l.spans = append(l.spans, span{state: string(a.End), from: a.At.Add(-a.Ran), to: a.At,
			why: why, text: a.task})
		if a.End != queue.Done {
			l.marks = append(l.marks, mark{a.At, "×", table.Mood(string(a.End)), why})
		}
		c.sees(a.At.Add(-a.Ran))
		c.sees(a.At)
	}
}
