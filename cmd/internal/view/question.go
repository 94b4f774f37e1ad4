package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/queue"
)

var questionColumns = []column{
	{title: "QUESTION", id: true}, {title: "KIND", spare: true},
	{title: "ASKED BY", short: "BY", id: true},
	{title: "ASKED"}, {title: "LEFT"}, {title: "TEXT", sinks: true},
}

// Questions draws open questions, one per line. It returns "" for none.
func (s Style) Questions(all []*queue.Task, seen queue.Seen) string {
	var nodes []*node
	for _, t := range all {
		nodes = append(nodes, &node{name: "question " + t.ID, cells: []cell{
			{text: t.ID, tone: strong}, {text: string(t.Ask.Kind)},
			{text: t.Ask.Askers[0].Participant}, {text: Ago(seen.Now.Sub(t.EnqueuedAt))},
			{text: Span(t.Expiry().Left(seen.Observation))}, {text: t.Ask.Text},
		}})
	}
	return s.table(questionColumns, nodes)
}

// Questions returns the questions of q that are open, and would be after an edit now: oldest first.
func (q Queue) Questions() (all []*queue.Task) {
	if !queue.IsAskQueue(q.ID) {
		return nil
	}
	after, err := q.Pass(q.Seen)
	if err != nil {
		after = q.Queue
	}
	for _, t := range after.Tasks {
		if t.Ask != nil {
			all = append(all, t)
		}
	}
	return all
}

// AskedBy says who asks t: its participant, and the task or operation for which it does.
func AskedBy(t *queue.Task) string {
	asker := t.Ask.Askers[0]
	who := asker.Participant
	switch {
	case asker.Task != "":
		who += ", for task " + asker.Task + " of " + asker.Queue
	case asker.Operation != "":
		who += ", in operation " + asker.Operation
	}
	if asker.User != "" {
		who += ", user " + asker.User
	}
	if n := len(t.Ask.Askers) - 1; n > 0 {
		who += fmt.Sprintf(" and %d more", n)
	}
	return who
}

// Question says in a line what kind of question t is, who asks, and how much time is left.
func (s Style) Question(t *queue.Task, seen queue.Seen) string {
	return fmt.Sprintf("%s: %s, asked %s by %s; %s left\n", s.paint(strong, t.ID), t.Ask.Kind,
		Ago(seen.Now.Sub(t.EnqueuedAt)), harmless.Text(AskedBy(t)),
		Span(t.Expiry().Left(seen.Observation)))
}

// Decision says in two lines how a question has ended.
func (s Style) Decision(e queue.Ended, now time.Time) string {
	word := string(e.End)
	return fmt.Sprintf("%s: %s%s, %s\n  %s\n", s.paint(strong, e.ID), s.paint(toneOf(word), word),
		harmless.Text(DecidedBy(e.Decision)), Ago(now.Sub(e.At)), harmless.Text(e.Decision.Text))
}

// DecidedBy says who has decided, and what they said: " by ada: use the test database".
func DecidedBy(d *queue.Decision) string {
	var text string
	switch {
	case d.By != "" && d.User != "" && d.User != d.By:
		text = fmt.Sprintf(" by %s (user %s)", d.By, d.User)
	case d.By != "":
		text = " by " + d.By
	case d.Rule.Number > 0:
		text = fmt.Sprintf(" by rule %d of %s", d.Rule.Number, d.Rule.File)
	}
	switch {
	case d.Self:
		text += ", who is part of what has asked"
	case d.Unchecked:
		text += ", who may be part of what has asked"
	}
	if d.Answer != "" {
		text += ": " + strings.TrimSpace(d.Answer)
	}
	return text
}
