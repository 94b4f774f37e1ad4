package table

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
)

var callColumns = []column{
	{title: "CALL", id: true}, {title: "PARTICIPANT", short: "WHO", id: true},
	{title: "PID", spare: true}, {title: "STATE"}, {title: "LAST HEARTBEAT", short: "BEAT"},
	{title: "SUPERVISOR", id: true, spare: true}, {title: "JUDGED NOW", short: "JUDGED"},
}

var supervisorColumns = []column{
	{title: "SUPERVISOR", id: true}, {title: "PID", spare: true}, {title: "STATUS"},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "JUDGED NOW", short: "JUDGED"},
}

// Operation draws op: its state, its calls as a tree of callers, and its supervisors.
func (s Style) Operation(op model.Operation) string {
	var calls, supervisors []*node
	for _, c := range op.Tree() {
		calls = append(calls, &node{
			depth: c.Depth,
			cells: []cell{
				{text: c.CallID, tone: strong}, {text: c.ParticipantID}, {text: Number(c.PID)},
				state(string(c.State)), {text: explain.Heard(c.Judgement)}, {text: c.SupervisorID}, state(c.Verdict),
			},
			name: fmt.Sprintf("call %s of %s", c.CallID, c.ParticipantID), details: explain.CallDetails(c),
		})
	}

	for _, v := range append(op.JudgedSupervisors(), op.MissingSupervisors()...) {
		supervisors = append(supervisors, &node{
			cells: []cell{
				{text: v.ID, tone: strong}, {text: Number(v.PID)}, state(string(v.Status)),
				{text: explain.Heard(v.Judgement)}, state(v.Verdict),
			},
			name: "supervisor " + v.ID, details: explain.SupervisorDetails(v),
		})
	}

	text := s.head(op)
	for _, table := range []string{
		s.table(callColumns, calls), s.table(supervisorColumns, supervisors),
	} {
		if table != "" {
			text += "\n" + table
		}
	}
	return text
}

func (s Style) head(op model.Operation) string {
	var out strings.Builder
	rest := fmt.Sprintf(", revision %d", op.Revision)
	if age := explain.InStateFor(op); age != "" {
		rest += ", for " + age
	}
	if op.RunID != "" {
		rest += ", run " + op.RunID
	}
	if op.Archived {
		rest += ", archived"
	}

	word := string(op.State)
	fmt.Fprintf(&out, "%s: %s%s\n", s.paint(strong, op.ID), s.paint(toneOf(word), word), rest)
	for _, t := range op.Transitions {
		text := harmless.Text(fmt.Sprintf("%s  %s -> %s by %s: %s", t.At.Format(time.RFC3339),
			t.From, t.To, op.Editor(t.By), explain.Why(t)))
		lines := []string{text}
		if s.Width > 0 && columns(text)+2 > s.Width {
			lines = s.note(text, s.Width-5)
			lines[0] = strings.Replace(lines[0], " ", "  ", 1)
		}
		fmt.Fprintf(&out, "  %s\n", strings.Join(lines, "\n    "))
	}

	return out.String()
}

// Number returns a pid as text, or "" if it is unknown.
func Number(pid int) string {
	if pid == 0 {
		return ""
	}
	return strconv.Itoa(pid)
}
