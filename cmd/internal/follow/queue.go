package follow

import (
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Queue waits until something of a queue may have changed: its file, whether its claimers exist,
// or what has its time.
//
// It misses nothing in the loop
//
//	for f.Arm(); !done(read()); f.Arm() {
//		f.Wait(…)
//	}
type Queue struct {
	ledger   *fileops.Ledger
	id       string
	notifier *notify.Notifier
	deaths   *Deaths
	life     *Life

	Idle   bool // the caller makes no edits: what an edit would change does not end a wait
	Failed bool // the last edit failed: it is tried again in a moment
}

// NewQueue returns a Queue, which need not exist. The caller must close it.
func NewQueue(l *fileops.Ledger, id string) *Queue { return NewQueueFor(nil, l, id) }

// NewQueueFor is like NewQueue, for a command that waits for life: its end may end a wait, too.
func NewQueueFor(life *Life, l *fileops.Ledger, id string) *Queue {
	return &Queue{ledger: l, id: id, life: life, deaths: NewDeaths(),
		notifier: l.NotifyAll(life.Operations(), nil, []string{id})}
}

// Close ends the watching.
func (f *Queue) Close() {
	f.notifier.Close()
	f.deaths.Watch(nil)
}

// Arm begins to watch the file, before it is read.
func (f *Queue) Arm() { f.notifier.Arm() }

// longestWait is how long Wait waits at most where it cannot tell when something is due.
const longestWait = time.Minute

// tryAgain is how long an edit that failed is not tried again.
const tryAgain = time.Second

// callEvery is how often calls are looked at that are the only sign of life of a claimer.
const callEvery = 2 * time.Second

// Wait waits until q may have changed, or an edit of it would change something, or the life for
// which it waits may have ended. It returns false if over or end fires first; nil channels never do.
func (f *Queue) Wait(q queue.Queue, observer func() observe.Observation,
	over <-chan time.Time, end <-chan struct{}) bool {
	lives, most := f.life.Watch(observer())
	most = min(most, longestWait)
	f.deaths.Watch(append(lives, q.Processes()...)) // before judging them, so that no death goes unnoticed
	seen := f.ledger.ObserveQueue(q, observer())
	if f.life.Err(seen.Observation) != nil {
		return true
	}
	if after, err := q.Pass(seen); !f.Idle && err == nil && after.Revision != q.Revision {
		if !f.Failed {
			return true
		}
		most = min(most, tryAgain)
	}
	if due, ok := q.NextDue(seen); ok {
		most = min(most, due+time.Millisecond)
	}
	if len(q.CallsToJudge(seen)) > 0 {
		most = min(most, callEvery)
	}
	timer := time.NewTimer(most)
	defer timer.Stop()

	select {
	case <-f.notifier.C():
	case <-f.deaths.C():
	case <-f.life.Done():
	case <-timer.C:
	case <-over:
		return false
	case <-end:
		return false
	}
	return true
}
