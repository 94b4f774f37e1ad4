package checking

import (
	"fmt"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// personQueue is where questions about uncertain attempts are.
const personQueue = "ask"

// AskPerson asks whether the attempt at t is done, which its check could not tell because of why,
// and returns the name of the question. The worker that made the attempt may not answer.
func AskPerson(env *cli.Env, l *fileops.Ledger, queueID string, t *queue.Task,
	why string) (string, error) {
	c := t.Claim
	text := fmt.Sprintf("Is task %s of %s done? Its check cannot tell: %s", t.ID, queueID, why)
	q := queue.Question{
		Kind: queue.AskPermission, Text: text, Spec: queue.AskSpec{Text: text}.Content(),
		Scope: queue.CheckScope(queueID, t), Key: strconv.FormatInt(c.Epoch, 10),
		Expires: cli.QuestionTimeout,
		Asker: queue.Asker{Participant: c.Participant, User: cli.UserName(), PID: c.PID,
			Process: c.Process, Operation: c.Operation, Call: c.Call,
			Queue: queueID, Task: t.ID, Epoch: c.Epoch},
	}

	id := ""
	_, err := env.EditQueue(l, personQueue, fileops.OrCreate,
		func(before queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			after, id, err = session.Ask(before, q, seen)
			return after, err
		})
	if err != nil {
		return "", fmt.Errorf("%s: ask a person: %w", personQueue, err)
	}
	return queue.QuestionName(personQueue, id), nil
}
