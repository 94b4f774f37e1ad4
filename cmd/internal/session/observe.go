package session

import (
	"iter"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/parallel"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Now returns the time of this session: that of its options, or of the clock.
func (s *Session) Now() time.Time {
	if !s.options.Now.IsZero() {
		return s.options.Now
	}
	return wire.Moment(time.Now())
}

// Observer returns a function that makes an observation, and reads the clocks anew each time. With
// a time in the options there is no monotonic clock: ages are relative to that time, and the
// observer counts as awake (spec §4.6). An observation looks at each process, and at the survivors
// of each start, only once, so that it cannot judge one in two ways. Any number of goroutines may
// use the observer; each observation belongs to one.
func (s *Session) Observer() func() observe.Observation {
	process.Here() // it reads some facts only once; do that before a lock is held
	return func() observe.Observation {
		// A command may run for days, and the time of the boot moves when the clock is set.
		look, lookAhead := lookOnce()
		seen := observe.Observation{
			Host: process.Here(), Now: s.Now(), Look: look, LookAhead: lookAhead,
			IsStopped: process.Stopped, Survived: surviveOnce(), Used: process.UsageOnce(),
			Kept: s.keepOnce(),
		}

		if s.options.Now.IsZero() {
			seen.MonotonicMs, _ = process.Monotonic()
		} else {
			seen.Watch = observe.Awake
		}

		return seen
	}
}

func lookOnce() (look func(observe.Process) observe.Presence, ahead func([]observe.Process)) {
	type start struct { // of a process of this host, boot and pid namespace
		pid          int
		ticks, inode int64
	}
	of := func(p observe.Process) start { return start{p.PID, p.StartTicks, p.PidfdInode} }
	looked := make(map[start]observe.Presence)
	look = func(p observe.Process) observe.Presence {
		presence, known := looked[of(p)]
		if !known {
			presence = process.Look(p)
			looked[of(p)] = presence
		}
		return presence
	}

	ahead = func(processes []observe.Process) {
		found := make([]observe.Presence, len(processes))
		parallel.Each(len(processes), func(mine iter.Seq[int]) {
			for i := range mine {
				found[i] = process.Look(processes[i])
			}
		})
		if len(looked) == 0 {
			looked = make(map[start]observe.Presence, len(processes))
		}
		for i, p := range processes {
			looked[of(p)] = found[i]
		}
	}

	return look, ahead
}

func surviveOnce() func(leader observe.Process, startID string, keeper observe.Process) bool {
	var survived map[string]bool // nil until needed; operations never need it
	return func(leader observe.Process, startID string, keeper observe.Process) bool {
		left, looked := survived[startID]
		if !looked {
			survivors, doubt := process.Survivors(leader, startID, keeper)
			left = len(survivors) > 0 || doubt != nil
			if survived == nil {
				survived = make(map[string]bool)
			}
			survived[startID] = left
		}

		return left
	}
}

// keepOnce returns an observer of what keepers keep, which looks for those of each group only once.
func (s *Session) keepOnce() func(groupID, service, startID string) int {
	known := make(map[string]map[string]int) // by the directory of exit records
	return func(groupID, service, startID string) int {
		for _, l := range s.ledgers {
			dir := l.GroupExits(groupID)
			kept, looked := known[dir]
			if !looked {
				kept = start.Kept(dir)
				known[dir] = kept
			}
			for name, pid := range kept {
				if of, id, ok := layout.InExits(name); ok && of == service && id != startID {
					return pid
				}
			}
		}
		return 0
	}
}
