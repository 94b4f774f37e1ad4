package work

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/queue"
)

// left are the tasks of a queue that are left when nothing is ready, by what is to be said of them.
type left [len(kindsLeft)][]string

// kindsLeft are what is said of tasks that are left, most urgent first.
var kindsLeft = [...]string{"dead", "blocked", "delayed", "held by others", "waiting"}

const (
	leftDead = iota
	leftBlocked
	leftDelayed
	leftHeld
	leftWaiting
)

func leftOf(q queue.Queue, seen queue.Seen) (l left) {
	for _, p := range q.Places(seen) {
		kind := leftWaiting
		switch p.State {
		case queue.Dead:
			kind = leftDead
		case queue.Blocked:
			kind = leftBlocked
		case queue.Claimed:
			kind = leftHeld
		default:
			if len(p.Holds) > 0 && (p.Holds[0].Kind == queue.HeldByTime ||
				p.Holds[0].Kind == queue.HeldByDelay) {
				kind = leftDelayed
			}
		}
		l[kind] = append(l[kind], p.ID)
	}
	return l
}

// comes reports whether something becomes ready by itself: when its time comes, or when the attempt
// of another worker ends.
func (l left) comes(q queue.Queue, seen queue.Seen) bool {
	_, delayed := q.DueIn(seen)
	return delayed || len(l[leftHeld]) > 0
}

// String says how many tasks of each kind are left, or "". It names the only one of a kind.
func (l left) String() string {
	var all []string
	for i, ids := range l {
		text := fmt.Sprintf("%d %s", len(ids), kindsLeft[i])
		if len(ids) == 1 {
			text += " (" + ids[0] + ")"
		}
		if len(ids) > 0 {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
