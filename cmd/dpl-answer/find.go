package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

// find returns the id of the only open question whose id begins with id. It returns id itself if a
// question has exactly that id, or if none begins so.
func find(q queue.Queue, id string) (string, error) {
	if q.Task(id) != nil {
		return id, nil
	}
	if _, ok := q.EndedTask(id); ok {
		return id, nil
	}

	var found []string
	for _, t := range q.Tasks {
		if t.Ask != nil && strings.HasPrefix(t.ID, id) {
			found = append(found, t.ID)
		}
	}
	switch len(found) {
	case 0:
		return id, nil
	case 1:
		return found[0], nil
	}
	return "", cli.Usagef("%q may be %s: give more of it", id, strings.Join(found, " or "))
}

// chosen returns the answer that text means: itself, or one of the choices of t, by its number.
func (d *desk) chosen(t *queue.Task, text string) (string, error) {
	spec, err := d.spec(t)
	if err != nil || len(spec.Choices) == 0 {
		return text, err
	}
	if slices.Contains(spec.Choices, text) {
		return text, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(spec.Choices) {
		return spec.Choices[n-1], nil
	}
	return "", fmt.Errorf("answer %q: %w: choose one of %q", t.ID, queue.ErrOtherKind, spec.Choices)
}

func (d *desk) spec(t *queue.Task) (queue.AskSpec, error) {
	content, err := d.ledger.ReadSpec(d.queue, t)
	if err != nil {
		return queue.AskSpec{}, err
	}
	return queue.DecodeAskSpec(content)
}
