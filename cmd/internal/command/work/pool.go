package work

import (
	"errors"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// run does tasks until there are none, and returns the error for the exit status. It reads the
// queue only if it has workers to spare and does not know whether there is a task for them: a queue
// of thousands of tasks changes hundreds of times a second.
func (w *workers) run() error {
	for {
		if len(w.busy) == int(w.flags.Jobs) || w.told != 0 && len(w.busy) > 0 {
			w.await(nil)
			continue
		}
		if w.next && w.told == 0 {
			w.next = false
			if err := w.start(); err == nil {
				continue
			}
		}

		w.follow.Arm()
		q, err := w.ledger.ReadQueue(string(w.flags.Queue))
		if err != nil && len(w.busy) == 0 {
			return err
		}

		if err == nil {
			w.alerts.start(&q)
		}
		if err == nil && w.told == 0 {
			err = w.fill(&q)
		}
		if err != nil {
			w.warn(err)
			w.fail(err.Error(), errors.Is(err, fileops.ErrBusy))
		}
		if q.ID != "" {
			w.ledger.LookAfter(q, w.env.Program) // even before this ends: cron starts another one
		}
		if over, err := w.over(q); over {
			return err
		}
		w.wait(q)
	}
}

// fill starts workers for the tasks of q that are ready, with the tasks of dead workers returned.
// If there are none, it returns those.
func (w *workers) fill(q *queue.Queue) error {
	w.follow.Failed = time.Now().Before(w.rest)
	if w.follow.Failed || w.gaveUp() {
		return nil
	}

	seen := w.ledger.ObserveQueue(*q, w.env.Observer()())
	after, err := q.Pass(seen)
	if err != nil {
		return err
	}

	ready := after.CountReady(seen, int(w.flags.Jobs)-len(w.busy))
	for range ready {
		if err := w.start(); err != nil {
			return err
		}
	}
	if ready == 0 && after.Revision != q.Revision {
		return w.makePass(q)
	}
	return nil
}

// makePass makes the edit of q that is due, such as to return a task that has to wait for its
// backoff: no worker will make it.
func (w *workers) makePass(q *queue.Queue) error {
	edit, err := w.env.EditQueue(w.ledger, q.ID, fileops.Existing, queue.Queue.Pass)
	if w.follow.Failed = err != nil; err == nil {
		*q = edit.After
	}
	return err
}

// wait waits until something has changed, and takes note of it.
func (w *workers) wait(q queue.Queue) {
	changed, end := make(chan struct{}), make(chan struct{})
	go func() {
		w.follow.Wait(q, w.env.Observer(), nil, end)
		close(changed)
	}()

	w.await(changed)
	close(end)
	<-changed
}

// await waits for a worker, a signal or a change.
func (w *workers) await(changed <-chan struct{}) {
	var rested <-chan time.Time // nil: no worker rests
	if !w.rest.IsZero() {
		rested = time.After(time.Until(w.rest))
	}
	for w.awaitOne(changed, rested) {
		w.progress.show()
	}
}

// awaitOne waits for one of what await waits for, or until it is time to show the progress: then it
// returns true.
func (w *workers) awaitOne(changed <-chan struct{}, rested <-chan time.Time) (show bool) {
	select {
	case <-w.progress.due():
		return true
	case <-changed:
	case <-rested:
		w.rest = time.Time{}
	case b := <-w.ended:
		w.lose(b)
	case sig := <-w.signals:
		w.pass(sig.(syscall.Signal))
	}
	return false
}

// pass passes a signal that asks this process to end on to the workers, which give their tasks
// back, and does what a terminal asks.
func (w *workers) pass(sig syscall.Signal) {
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		if w.told == 0 {
			w.told = sig
		}
		w.send(syscall.SIGTERM)
	default:
		w.stop(sig)
	}
}
