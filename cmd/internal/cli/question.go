package cli

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/go-json-experiment/json/jsontext"
)

// QuestionTimeout is how long a question is open, if nothing else is said.
const QuestionTimeout = 24 * time.Hour

// To has the flag that says who is asked.
type To struct {
	To ID `placeholder:"NAME"`
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

// DecisionJSON returns the object of d in the file, or nil for a task that was no question.
func DecisionJSON(d *queue.Decision) any {
	if d == nil {
		return nil
	}
	return jsontext.Value(d.Encode())
}
