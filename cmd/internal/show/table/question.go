package table

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/question"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/go-json-experiment/json/jsontext"
)

var questionColumns = []column{
	{title: "QUESTION", id: true}, {title: "KIND", spare: true},
	{title: "ASKED BY", short: "BY", id: true},
	{title: "ASKED"}, {title: "LEFT"}, {title: "TEXT", sinks: true, quotes: true},
}

// Questions draws open questions, one per line. It returns "" for none.
func (s Style) Questions(all []*queue.Task, seen queue.Seen) string {
	var nodes []*node
	for _, t := range all {
		nodes = append(nodes, &node{name: "question " + t.ID, cells: []cell{
			{text: t.ID, tone: strong}, {text: string(t.Ask.Kind)},
			{text: t.Ask.Askers[0].Participant}, {text: explain.Ago(seen.Now.Sub(t.EnqueuedAt))},
			{text: explain.Span(t.Expiry().Left(seen.Observation))}, {text: t.Ask.Text},
		}})
	}
	return s.table(questionColumns, nodes)
}

// Question draws the question t in full, for a person who decides: how much time is left; who asks,
// and what (see Spec), all of it behind a margin. What is to be allowed is last, so that nothing
// else pushes it off the screen.
func (s Style) Question(t *queue.Task, spec queue.AskSpec, seen queue.Seen) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s, asked %s; %s left\n", s.paint(strong, t.ID), t.Ask.Kind,
		explain.Ago(seen.Now.Sub(t.EnqueuedAt)), explain.Span(t.Expiry().Left(seen.Observation)))
	out.WriteString(s.by(explain.AskedBy(t)))
	what, err := s.Spec(spec)
	return out.String() + what, err
}

// Spec draws all of what is asked: the text, the choices and the request, behind a margin. What is
// to be allowed is last.
func (s Style) Spec(spec queue.AskSpec) (string, error) {
	var out strings.Builder
	out.WriteString(s.Quote(spec.Text))
	if spec.Choices != nil {
		var lines []string
		for i, choice := range spec.Choices {
			lines = append(lines, fmt.Sprintf("%d) %s", i+1, harmless.Text(choice)))
		}
		out.WriteString("choices:\n" + s.behindMargin(lines))
	}
	if spec.Input == "" {
		return out.String(), nil
	}

	request, err := question.DecodeRequest(spec.Input)
	if err != nil { // it can be asked for all the same, by other means than dpl-ask
		request = question.Request{}
	}
	others, err := drawer{request, s.margin()}.object(jsontext.Value(spec.Input), 0)
	if err != nil {
		return "", err
	}
	if len(others) > 0 {
		out.WriteString("request:\n" + s.behindMargin(others))
	}
	if request.Tool != "" {
		out.WriteString("tool:\n" + s.behindMargin([]string{harmless.Text(request.Tool)}))
	}
	if command := cmp.Or(request.Shell, explain.Command(request.Argv...)); command != "" {
		out.WriteString("command:\n" + s.Quote(command))
	}
	return out.String(), nil
}

// by draws who asks or has answered in one line, which is the first behind the margin: names may be
// written by others.
func (s Style) by(who string) string {
	return s.behindMargin([]string{harmless.Text("by " + who)})
}

// Decision draws a question that has ended: how, by whom, its text, and what was answered.
func (s Style) Decision(e queue.Ended, now time.Time) string {
	d, word := e.Decision, string(e.End)
	text := fmt.Sprintf("%s: %s, %s\n", s.paint(strong, e.ID), s.paint(toneOf(word), word),
		explain.Ago(now.Sub(e.At)))
	if by := explain.Decider(d); by != "" {
		text += s.by(strings.TrimPrefix(by, " by "))
	}
	text += s.Quote(d.Text)
	if d.Answer != "" {
		text += "answer:\n" + s.Quote(d.Answer)
	}
	return text
}
