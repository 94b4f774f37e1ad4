package doctor

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

// manyTasks is how many tasks a queue can have without each edit becoming slow. A ledger that
// commits by link keeps each version of a queue for a while, which takes room.
const (
	manyTasks  = 10_000
	manyLinked = 1_000
)

// queues reports queues that are too large, whose tasks have lost their specs, or that wait for
// somebody to look.
func (p *checkup) queues() (found []finding) {
	for _, f := range p.files {
		if q := f.Queue; q != nil && !q.Removed {
			found = append(found, p.sizeOf(f.name, q)...)
			found = append(found, p.specsOf(f.name, q)...)
			found = append(found, p.setBack(f.name, q.ID)...)
			found = append(found, p.deadOf(f.name, q)...)
		}
	}
	return found
}

func (p *checkup) sizeOf(object string, q *queue.Queue) []finding {
	linked := p.survey.Ledger.Config().Commit == "link"
	switch n := len(q.Tasks); {
	case linked && n > manyLinked:
		text := fmt.Sprintf("it has %d tasks, and this ledger keeps many versions of it", n)
		return []finding{warning.about(object, text, "use several queues, or another ledger")}
	case n > manyTasks:
		text := fmt.Sprintf("it has %d tasks, and each edit writes them all", n)
		return []finding{warning.about(object, text, "use several queues")}
	}
	return nil
}

// specsOf reports tasks whose spec is missing or is not what was enqueued.
func (p *checkup) specsOf(object string, q *queue.Queue) (found []finding) {
	for _, t := range q.Tasks {
		_, err := p.survey.Ledger.ReadSpec(q.ID, t)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist):
			found = append(found, problem.about(object, fmt.Sprintf("the spec of task %s is missing", t.ID),
				"restore it, or cancel the task: dpl-enqueue --cancel"))
		default:
			found = append(found, problem.about(object, fmt.Sprintf("the spec of task %s: %v", t.ID, err),
				"restore it, or cancel the task: dpl-enqueue --cancel"))
		}
	}
	return found
}

// setBack reports a queue whose file is older than attempts at its tasks (spec §35.7). It reads the
// file after their names, because workers may go on.
func (p *checkup) setBack(object, id string) []finding {
	named, err := p.survey.Ledger.LastNamed(id)
	q, readErr := p.survey.Ledger.ReadQueue(id)
	if err != nil || readErr != nil || named <= q.LastEpoch {
		return nil
	}
	text := fmt.Sprintf("the file was set back to an older state: its last attempt is %d, and there are "+
		"files of attempt %d", q.LastEpoch, named)
	return []finding{warning.about(object, text,
		"restore a newer one, or workers run tasks again that have ended")}
}

// deadOf notes dead tasks.
func (p *checkup) deadOf(object string, q *queue.Queue) []finding {
	seen := queue.Seen{Observation: p.seen}
	if t, any := explain.DeadTasks(model.NewQueue(*q, seen)); any {
		return []finding{note.tells(object, t)}
	}
	return nil
}
