package model

import (
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// A Claim is a claimed task, as judged now.
type Claim struct {
	queue.Place
	queue.Judgement
	Age   time.Duration // of the claim
	Queue *Queue
}

// Claims returns the claimed tasks of q, the claims that were made first at the beginning.
func (q Queue) Claims() (all []Claim) {
	for _, p := range q.Places {
		if p.Claim != nil {
			all = append(all, q.claim(p))
		}
	}
	return all
}

func (q *Queue) claim(p queue.Place) Claim {
	c := p.Claim
	return Claim{Place: p, Judgement: q.Judged(p.Task, q.Seen), Queue: q,
		Age: max(0, q.Seen.Age(c.At, c.Beat))}
}

// Verdict returns "alive", or how the attempt has ended although the file does not say so yet.
func (c Claim) Verdict() string {
	if c.End != "" {
		return string(c.End)
	}
	return "alive"
}
