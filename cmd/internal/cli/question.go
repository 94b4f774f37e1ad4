package cli

import (
	"strings"

	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// QuestionTimeout is how long a question is open, if nothing else is said.
const QuestionTimeout = 24 * time.Hour

// To has the flag that says who is asked.
type To struct {
	To ID `placeholder:"NAME" help:"the person NAME, whose questions are in the queue ask.NAME (ask)"`
}

// AskQueue returns the queue of the questions.
func (t To) AskQueue() (QueueID, error) {
	if t.To == "" {
		return "ask", nil
	}
	id := "ask." + string(t.To)
	if err := queue.CheckID(id); err != nil {
		return "", Usagef("--to %s: %v", t.To, err)
	}
	return QueueID(id), nil
}

// AnswerCommand returns the command that answers the question id of a queue, if it is the one with
// the hash shown (queue.Shown): --allow, --deny or a text is to be added.
func AnswerCommand(queueID, id, shown string) string {
	command := "dpl-answer " + id
	if name, ok := strings.CutPrefix(queueID, "ask."); ok {
		command += " --to " + name
	}
	return command + " --shown " + shown
}

// AskObject returns who asks what, under the names of the file, or nil for a task that is no
// question.
func AskObject(a *queue.Ask) any {
	if a == nil {
		return nil
	}

	askers := []Object{}
	for _, asker := range a.Askers {
		askers = append(askers, Object{{"participant", asker.Participant},
			{"user", OrNull(asker.User)}, {"pid", OrNull(asker.PID)},
			{"operation", OrNull(asker.Operation)}, {"call", OrNull(asker.Call)},
			{"queue", OrNull(asker.Queue)}, {"task", OrNull(asker.Task)},
			{"epoch", OrNull(asker.Epoch)}})
	}
	return Object{{"kind", a.Kind}, {"text", a.Text}, {"by", a.By}, {"user", OrNull(a.User)},
		{"scope", OrNull(a.Scope)}, {"signed", a.Signed}, {"askers", askers}}
}

// DecisionObject returns how a question has ended, under the names of the file, or nil for a task
// that was none.
func DecisionObject(d *queue.Decision) any {
	if d == nil {
		return nil
	}

	var rule any
	if d.Rule.Number > 0 {
		rule = Object{{"file", d.Rule.File}, {"hash", d.Rule.Hash}, {"number", d.Rule.Number}}
	}
	return Object{{"kind", d.Kind}, {"text", d.Text}, {"askedBy", d.AskedBy},
		{"operation", OrNull(d.Operation)}, {"by", OrNull(d.By)}, {"user", OrNull(d.User)},
		{"answer", OrNull(d.Answer)}, {"rule", rule}, {"self", d.Self},
		{"unchecked", d.Unchecked}, {"shown", OrNull(d.Shown)}}
}
