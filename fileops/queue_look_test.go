package fileops

import (
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
)

// lookFrom returns the task t as host h finds it who waits for it, and only looks.
func (h *host) lookFrom(t *testing.T, l *Ledger) *queue.Task {
	t.Helper()
	l.options.Observe = h.look
	q, err := l.ReadQueue("q")
	must(t, err)
	l.LookAfter(q, "waiter")
	after, err := q.Pass(l.ObserveQueue(q, h.look()))
	must(t, err)
	return after.Task("t")
}

// A host that only looks finds that a deadline and a delay of another host have passed.
func TestLookAfterTimers(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, linkedConfig)
	a, b := twoHosts(time.Hour)
	l.options.Observe = a.look
	enqueue(t, l, "{}", "t")
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: 10 * time.Second}, "", seen)
		return after, err
	})

	for range 10 {
		if task := b.lookFrom(t, l); task.Claim == nil {
			t.Fatalf("before the deadline it is %s", task.State)
		}
		b.pass(time.Second)
	}
	if task := b.lookFrom(t, l); task.Last.End != queue.TimedOut {
		t.Errorf("at the deadline it is %s, last %v", task.State, task.Last)
	}
}

// A host that only looks leaves an attempt of another host alone whose call sends heartbeats, and
// returns the task of one that is silent.
func TestLookAfterCalls(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, linkedConfig)
	a, b := twoHosts(-time.Hour)
	l.options.Observe = a.look
	enqueue(t, l, "{}", "t")
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Claim(queue.Claimer{Participant: "p", Operation: "op", Call: "c"}, "", seen)
		return after, err
	})
	remotePush(t, l, a)

	for range 20 {
		if task := b.lookFrom(t, l); task.Claim == nil {
			t.Fatalf("while its call beats it is %s, last %v", task.State, task.Last)
		}
		a.pass(2 * time.Second)
		b.pass(2 * time.Second)
		a.beat(t, l)
	}

	silent := time.Duration(0)
	for b.lookFrom(t, l).Claim != nil && silent < time.Minute {
		b.pass(2 * time.Second)
		silent += 2 * time.Second
	}
	if least, most := protocol.DefaultStalenessThreshold, 2*protocol.DefaultStalenessThreshold+
		4*time.Second; silent < least || silent > most {
		t.Errorf("it was returned after %v, want %v to %v", silent, least, most)
	}
}
