//go:build linux

package operated

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// rhythm is the time from the end of a look to the next one.
const rhythm = 300 * time.Millisecond

// detailed is about how many services each look asks in detail.
const detailed = 2

// watch looks until stop is closed.
func (w *world) watch(stop chan struct{}) (done *sync.WaitGroup) {
	done = &sync.WaitGroup{}
	done.Go(func() {
		for turn := 0; ; turn++ {
			select {
			case <-stop:
				return
			case <-time.After(rhythm):
				w.look(turn)
			}
		}
	})
	return done
}

// look takes a snapshot, asks DPL, takes another snapshot, and judges.
func (w *world) look(turn int) {
	before, ok := w.snapshot()
	if !ok {
		return
	}
	l := look{before: before, said: make(map[string]answer)}
	for i := range detailed {
		l.asked = append(l.asked, services[(turn*detailed+i)%len(services)])
	}

	out, err := w.within(before.box, "sh", append([]string{"look.sh"}, l.asked...)...).Output()
	if l.after, ok = w.snapshot(); !ok || err != nil {
		return // it was killed with the container
	}
	for part := range strings.SplitSeq(string(out), "\x1e") {
		if words := strings.Split(part, "\x1f"); len(words) == 3 {
			l.said[words[0]] = answer{words[1], words[2]}
		}
	}
	if len(l.said["again"].services()) != len(services) {
		if w.current().first == before.box.first {
			w.fault("a look has no answer: %q", out)
		}
		return
	}

	for service, starts := range l.after.living() {
		both := slices.DeleteFunc(starts, func(start string) bool {
			return !slices.Contains(l.before.living()[service], start)
		})
		if len(both) > 1 {
			w.fault("%s runs %d times: %v", service, len(both), both)
		}
	}
	if n := len(w.lines("migrated")); n > 1 {
		w.fault("the migration has succeeded %d times", n)
	}

	verdicts := l.judge()
	w.mu.Lock()
	lasting := w.seen.take(verdicts)
	if l.said["healthy"].status == "0" {
		w.seen.well = time.Now()
	}
	w.mu.Unlock()
	for _, v := range lasting {
		w.fault("%s of %s differs in two looks: %s", v.rule, v.service, v.detail)
	}
}
