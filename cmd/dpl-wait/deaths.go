package main

import (
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// mostWatched is the number of processes watched at once, which leaves descriptors for other uses.
// A look finds the deaths of all others, at least once per threshold.
const mostWatched = 100

// deaths reports when one of a set of processes ends.
type deaths struct {
	told    chan struct{} // receives a value when one has ended
	watched map[observe.Process]watch
}

// A watch waits for the end of one process, until it is stopped.
type watch struct {
	*process.Watched
	stop chan struct{}
}

// watch watches exactly the processes of all.
func (d *deaths) watch(all []protocol.WatchedProcess) {
	before := d.watched
	d.watched = make(map[observe.Process]watch)
	for _, m := range all {
		if _, twice := d.watched[m.Process]; twice || !m.Process.Known() ||
			len(d.watched) == mostWatched {
			continue
		}

		w, has := before[m.Process]
		if !has {
			handle, err := process.Watch(m.Process.PID)
			if err != nil {
				continue // it has ended; the next look finds that
			}
			w = watch{handle, make(chan struct{})}
			go d.await(w)
		}

		d.watched[m.Process] = w
		delete(before, m.Process)
	}

	for _, w := range before {
		close(w.stop)
		w.Close()
	}
}

func (d *deaths) await(w watch) {
	select {
	case <-w.Done():
		select {
		case d.told <- struct{}{}:
		default:
		}
	case <-w.stop:
	}
}
