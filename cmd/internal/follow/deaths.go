// Package follow waits until something may have changed: a file, or whether a process exists.
package follow

import (
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/observe"
)

// mostWatched is the number of processes watched at once, which leaves descriptors for other uses.
// A look finds the deaths of all others, at least once per threshold.
const mostWatched = 100

// Deaths report when one of a set of processes ends. NewDeaths returns some.
type Deaths struct {
	told    chan struct{}
	watched map[observe.Process]watch
}

// NewDeaths returns Deaths of no processes.
func NewDeaths() *Deaths { return &Deaths{told: make(chan struct{}, 1)} }

// C receives a value when a process has ended.
func (d *Deaths) C() <-chan struct{} { return d.told }

// A watch waits for the end of one process, until it is stopped.
type watch struct {
	*process.Watched
	stop chan struct{}
}

// Watch watches exactly the processes of all, at most 100 of them: a look finds the deaths of
// others.
func (d *Deaths) Watch(all []observe.Process) {
	before := d.watched
	d.watched = make(map[observe.Process]watch)
	for _, p := range all {
		if _, twice := d.watched[p]; twice || !p.Known() ||
			len(d.watched) == mostWatched {
			continue
		}

		w, has := before[p]
		if !has {
			handle, err := process.Watch(p.PID)
			if err != nil {
				continue // it has ended; the next look finds that
			}
			w = watch{handle, make(chan struct{})}
			go d.await(w)
		}

		d.watched[p] = w
		delete(before, p)
	}

	for _, w := range before {
		close(w.stop)
		w.Close()
	}
}

func (d *Deaths) await(w watch) {
	select {
	case <-w.Done():
		select {
		case d.told <- struct{}{}:
		default:
		}
	case <-w.stop:
	}
}
