package answer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

// read returns the queue as an edit now would leave it. One that nobody has used yet is empty.
func (d *desk) read() (queue.Queue, queue.Seen, error) {
	q, err := d.ledger.ReadQueue(d.queue)
	if errors.Is(err, queue.ErrNoQueue) {
		return queue.Create(d.queue), d.ledger.SeeQueue(d.queue, d.env.Observer()()), nil
	}
	if err != nil {
		return q, queue.Seen{}, err
	}
	seen := d.ledger.ObserveQueue(q, d.env.Observer()())
	q, err = q.Pass(seen)
	return q, seen, err
}

// begins reports whether text may be the beginning of the id of a question, and is no whole one.
func begins(text string) bool {
	return strings.HasPrefix(text, "q") && len(text) >= 5 && len(text) < 11 &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// find returns the id of the open question of q whose id begins with id. It returns id itself if
// that is no beginning, or no open question begins so; and an error if another one does that is
// open, or has ended in the last seven days.
func (d *desk) find(q queue.Queue, id string, now time.Time) (string, error) {
	if q.Task(id) != nil || !begins(id) {
		return id, nil
	}

	var found []string
	for _, t := range q.Tasks {
		if strings.HasPrefix(t.ID, id) {
			found = append(found, t.ID)
		}
	}
	since := now.Add(-7 * 24 * time.Hour)
	for _, e := range d.ledger.Lately(q, since, math.MaxInt).Ended {
		byRule := e.Decision != nil && e.Decision.Rule.Number > 0
		if strings.HasPrefix(e.ID, id) && !byRule && e.At.After(since) {
			found = append(found, e.ID)
		}
	}
	switch {
	case len(found) > 1:
		return "", cli.Usagef("%q may be %s: give more of it", id, strings.Join(found, " or "))
	case len(found) == 1:
		return found[0], nil
	}
	return id, nil
}

// chosen returns u with the choice of t that its text means: itself, or by its number. It returns
// queue.ErrOtherKind if it means none or two of them.
func (d *desk) chosen(t *queue.Task, u utterance) (utterance, error) {
	spec, err := d.spec(t)
	if err != nil || len(spec.Choices) == 0 || u.allow || u.deny {
		return u, err
	}
	if text, ok := choice(spec.Choices, u.text); ok {
		u.text = text
		return u, nil
	}
	return u, fmt.Errorf("answer %q: %w: give one of the choices that dpl-answer %[1]s shows, or its "+
		"number from 1 to %[3]d", t.ID, queue.ErrOtherKind, len(spec.Choices))
}

// choice returns the one of choices that text means, and whether there is exactly one.
func choice(choices []string, text string) (string, bool) {
	is := slices.Contains(choices, text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1], !is || choices[n-1] == text
	}
	return text, is
}

func (d *desk) spec(t *queue.Task) (queue.AskSpec, error) {
	content, err := d.ledger.ReadSpec(d.queue, t)
	if err != nil {
		return queue.AskSpec{}, err
	}
	return queue.DecodeAskSpec(content)
}
