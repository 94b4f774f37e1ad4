package main

import (
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// mostWatched is how many processes are watched at once. There have to be descriptors left; the death of others shows at the
// next look, at least once in a threshold.
const mostWatched = 100

// deaths tells when one of some processes ends.
type deaths struct {
	told    chan struct{} // gets a value when one has ended
	watched map[protocol.Process]watch
}

// A watch is a process whose end is waited for, until it is stopped.
type watch struct {
	*process.Watched
	stop chan struct{}
}

// watch watches the processes of all, and no others.
func (d *deaths) watch(all []protocol.WatchedProcess) {
	before := d.watched
	d.watched = make(map[protocol.Process]watch)
	for _, m := range all {
		if _, twice := d.watched[m.Process]; twice || !m.Process.Known() || len(d.watched) == mostWatched {
			continue
		}
		w, has := before[m.Process]
		if !has {
			handle, err := process.Watch(m.Process.PID)
			if err != nil {
				continue // it has ended, as the next look finds
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
