package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

var queuesColumns = []column{
	{title: "QUEUE", id: true}, {title: "STATE"}, {title: "WAITING", short: "WAIT"},
	{title: "READY"}, {title: "CLAIMED", short: "CLAIM"}, {title: "BLOCKED", short: "BLOCK"},
	{title: "DEAD"}, {title: "OLDEST WAITING", short: "OLDEST"},
}

var oldestColumns = []column{
	{title: "PRIORITY", short: "PRIO"}, {title: "WAITING", short: "WAIT"},
	{title: "OLDEST", id: true}, {title: "ADDED"}, {title: "HELD", sinks: true, below: "is"},
}

var claimColumns = []column{
	{title: "CLAIMED", id: true}, {title: "PARTICIPANT", short: "WHO", id: true},
	{title: "EPOCH", spare: true}, {title: "SINCE"}, {title: "JUDGED NOW", short: "JUDGED"},
	{title: "EVIDENCE", sinks: true},
}

var stuckColumns = []column{
	{title: "STUCK", id: true}, {title: "STATE"}, {title: "ATTEMPTS", short: "TRIES"},
	{title: "LAST END", short: "END"}, {title: "BY", id: true, spare: true},
	{title: "REASON", sinks: true},
}

var endedColumns = []column{
	{title: "ENDED", id: true}, {title: "HOW"}, {title: "EPOCH", spare: true},
	{title: "BY", id: true, spare: true}, {title: "RAN", spare: true}, {title: "WHEN"},
}

// Queues draws queues, one per line.
func (s Style) Queues(queues []model.Queue) string {
	var nodes []*node
	for _, q := range queues {
		c, state := q.Count(), string(q.State())
		oldest := ""
		if age, any := q.OldestWait(); any {
			oldest = explain.Ago(age)
		}
		nodes = append(nodes, &node{cells: []cell{
			{text: q.ID, tone: strong}, {text: state, tone: toneOf(state)},
			{text: strconv.Itoa(c.Waiting)}, {text: strconv.Itoa(c.Ready)},
			{text: strconv.Itoa(c.Claimed)}, troubling(c.Blocked), troubling(c.Dead), {text: oldest},
		}})
	}
	return s.table(queuesColumns, nodes)
}

// Queue draws q: its state, its halts, its goal and its limits; how many tasks there are, and
// those that are claimed, need somebody, have waited for longest, and have ended last.
func (s Style) Queue(q model.Queue) string {
	text := s.queueHead(q)
	for _, table := range []string{
		s.Questions(q.Questions(), q.Seen), s.claims(q), s.stuck(q), s.oldest(q), s.endedTasks(q),
		s.decisions(q),
	} {
		if table != "" {
			text += "\n" + table
		}
	}
	return text
}

func (s Style) queueHead(q model.Queue) string {
	var out strings.Builder
	state := string(q.State())
	fmt.Fprintf(&out, "%s: %s, revision %d\n", s.paint(strong, q.ID),
		s.paint(toneOf(state), state), q.Revision)

	say := func(t tone, text string) {
		width := 0
		if s.Width > 0 {
			width = s.Width - 2
		}
		for _, line := range s.note(harmless.Text(text), width) {
			out.WriteString("  " + s.paint(t, line) + "\n")
		}
	}

	for _, h := range q.Halts {
		say(warn, explain.Halt(q, h))
	}
	if goal := explain.Goal(q); goal != "" {
		say(plain, "goal "+goal)
	}

	if limits := explain.QueueLimits(q); limits != nil {
		say(plain, strings.Join(limits, ", "))
	}
	say(plain, explain.Count(q))
	for _, text := range explain.Speed(q) {
		say(plain, text)
	}
	if r := q.Report; r != nil {
		say(plain, fmt.Sprintf("last report: task %s, epoch %d: %s", r.Task, r.Epoch, r.Path))
	}
	return out.String()
}

func (s Style) claims(q model.Queue) string {
	var nodes []*node
	for _, c := range q.Claims() {
		evidence := explain.ClaimEvidence(c)
		if asked := explain.ClaimAsked(c); asked != "" {
			evidence = append(evidence, asked)
		}
		nodes = append(nodes, &node{name: "task " + c.ID, cells: []cell{
			{text: c.ID, tone: strong}, {text: c.Place.Claim.Participant},
			{text: strconv.FormatInt(c.Place.Claim.Epoch, 10)}, {text: explain.Ago(c.Age)},
			state(c.Verdict()), {text: strings.Join(evidence, ", ")},
		}})
	}
	return s.table(claimColumns, nodes)
}

// mostStuck and mostEnded are how many tasks are listed that need somebody, or have ended.
const (
	mostStuck = 50
	mostEnded = 10
)

func (s Style) stuck(q model.Queue) string {
	all := q.Stuck()
	var nodes []*node
	for _, p := range all[:min(len(all), mostStuck)] {
		why := p.Last.Reason
		if p.State == queue.Blocked {
			why = p.Reason
			if p.Question != "" {
				why += " (" + p.Question + ")"
			}
		}
		nodes = append(nodes, &node{name: "task " + p.ID, cells: []cell{
			{text: p.ID, tone: strong}, state(string(p.State)),
			{text: strconv.FormatInt(p.Attempts, 10)}, state(string(p.Last.End)), {text: p.Last.By},
			{text: why},
		}})
	}
	return s.table(stuckColumns, nodes) + s.more(len(all)-mostStuck)
}

// more says that n lines are left out.
func (s Style) more(n int) string {
	if n <= 0 {
		return ""
	}
	return s.paint(faint, fmt.Sprintf("and %d more", n)) + "\n"
}

func (s Style) oldest(q model.Queue) string {
	var nodes []*node
	for _, o := range q.Oldest() {
		held := "ready"
		if !o.Ready() {
			held = explain.Hold(o.Holds[0])
		}
		nodes = append(nodes, &node{name: "task " + o.ID, cells: []cell{
			{text: strconv.FormatInt(o.Priority, 10)}, {text: strconv.Itoa(o.Waiting)},
			{text: o.ID, tone: strong}, {text: explain.Ago(q.Seen.Now.Sub(o.EnqueuedAt))}, {text: held},
		}})
	}
	return s.table(oldestColumns, nodes)
}

func (s Style) endedTasks(q model.Queue) string {
	var nodes []*node
	for _, e := range slices.Backward(q.Ended) {
		if len(nodes) == mostEnded {
			break
		}
		if e.Decision != nil {
			continue
		}
		nodes = append(nodes, &node{cells: []cell{
			{text: e.ID, tone: strong}, state(string(e.End)), {text: epochText(e.Last.Epoch)},
			{text: e.Last.By}, {text: ranText(e.Last)}, {text: explain.Ago(q.Seen.Now.Sub(e.At))},
		}})
	}
	return s.table(endedColumns, nodes)
}

var decisionColumns = []column{
	{title: "DECIDED", id: true}, {title: "HOW"}, {title: "BY", id: true}, {title: "WHEN"},
	{title: "QUESTION", sinks: true, quotes: true}, {title: "ANSWER", sinks: true, below: "answer"},
}

// decisions draws the questions that have ended last.
func (s Style) decisions(q model.Queue) string {
	var nodes []*node
	for _, e := range slices.Backward(q.Ended) {
		d := e.Decision
		if d == nil || len(nodes) == mostEnded {
			continue
		}
		by := d.By
		if d.Rule.Number > 0 {
			by = fmt.Sprintf("rule %d", d.Rule.Number)
		}
		nodes = append(nodes, &node{name: "question " + e.ID, cells: []cell{
			{text: e.ID, tone: strong}, state(string(e.End)), {text: by},
			{text: explain.Ago(q.Seen.Now.Sub(e.At))}, {text: d.Text}, {text: d.Answer},
		}})
	}
	return s.table(decisionColumns, nodes)
}

// ranText says how long a ran, or nothing if that is not known.
func ranText(a queue.Attempt) string {
	if a.By == "" {
		return ""
	}
	return explain.Span(a.Ran)
}

// epochText returns an epoch as text, or "" for 0.
func epochText(epoch int64) string {
	if epoch == 0 {
		return ""
	}
	return strconv.FormatInt(epoch, 10)
}
