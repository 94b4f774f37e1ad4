package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// A janitor makes the edits that the death of a participant calls for, so that nobody waits for the dead (spec §13.4).
type janitor struct {
	env    *cli.Env
	ledger *fileops.Ledger
	op, by string
	woken  chan struct{} // gets a value when a process ends

	watched map[protocol.Process]watch
	edited  time.Time // when the last edit was made
	idle    bool      // it cannot edit
}

// look looks at op, which is not terminal, and returns how long to wait at most before the next look.
func (j *janitor) look(op protocol.Operation) time.Duration {
	if j.idle {
		return time.Hour
	}
	seen := j.env.Clock()()
	j.watch(op.Mortals(seen))
	after, err := op.Cleanup(j.by, seen)
	if err != nil || after.Revision == op.Revision {
		return j.untilStale(op, seen)
	}
	if wait := time.Until(j.edited.Add(op.HeartbeatInterval)); wait > 0 {
		return wait // so that others see a crash before it is cleaned up
	}
	j.edited = time.Now()
	_, err = j.env.Edit(j.ledger, j.op, fileops.Existing|fileops.Try, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		if op.State.Terminal() {
			return op, protocol.ErrOver
		}
		return op.Cleanup(j.by, seen)
	})
	if err != nil {
		j.env.Logf("%v", cli.Named("cleanup", j.op, "", err))
		j.idle = !cli.Transient(err)
	}
	return op.HeartbeatInterval
}

// untilStale returns how long it takes until somebody may go stale, at most a threshold.
func (j *janitor) untilStale(op protocol.Operation, seen protocol.Observation) time.Duration {
	first := op.StalenessThreshold
	for _, m := range op.Mortals(seen) {
		if m.StaleIn >= 0 {
			first = min(first, m.StaleIn+time.Millisecond)
		}
	}
	return first
}

// A watch is a process whose end is waited for, until it is stopped.
type watch struct {
	*process.Watched
	stop chan struct{}
}

// watch watches the processes of all, and no others.
func (j *janitor) watch(all []protocol.Mortal) {
	before := j.watched
	j.watched = make(map[protocol.Process]watch)
	for _, m := range all {
		if _, twice := j.watched[m.Process]; twice || !m.Process.Known() {
			continue
		}
		w, has := before[m.Process]
		if !has {
			handle, err := process.Watch(m.Process.PID)
			if err != nil {
				continue // it has ended, as the next look finds, or goes stale
			}
			w = watch{handle, make(chan struct{})}
			go j.await(w)
		}
		j.watched[m.Process] = w
		delete(before, m.Process)
	}
	for _, w := range before {
		w.end()
	}
}

func (j *janitor) await(w watch) {
	select {
	case <-w.Done():
		select {
		case j.woken <- struct{}{}:
		default:
		}
	case <-w.stop:
	}
}

func (w watch) end() {
	close(w.stop)
	w.Close()
}

func (j *janitor) close() {
	j.watch(nil)
}
