//go:build linux

package main

import (
	"runtime"
	"time"
)

// A contestant is a command that is timed.
type contestant struct {
	name  string // of its series
	argv  []string
	ready func() error // makes ready for a run, and is not timed; nil: nothing to do

	steps func() [][]string // in place of argv: the commands of one run, timed as one
	by    *starter          // nil: that of the benchmark
}

// A turn is a series of commands, each timed on its own: a push, and the pop that undoes it.
type turn struct {
	contestants []contestant
	every       int // it takes part in one of so many rounds; 0: in all
}

// alone returns a turn of one contestant.
func alone(name string, argv []string) turn {
	return turn{contestants: []contestant{{name: name, argv: argv}}}
}

// race runs each turn once per round, in a new random order, so that a drift of the machine affects
// all alike. The first rounds warm up, and do not count.
func (b *bench) race(turns []turn, rounds int) error {
	if err := syncAll(b.work); err != nil {
		return err
	}

	runtime.GC() // now, and not during the measurement
	for round := -b.plan.warmUp; round < rounds; round++ {
		for _, i := range b.random.Perm(len(turns)) {
			t := turns[i]
			if slow := t.every > 1; slow && (round%t.every != 0 || round < -1) {
				continue
			}

			for _, c := range t.contestants {
				took, err := b.once(c)
				if err != nil {
					return err
				}
				if round >= 0 {
					b.results.add(c.name, "s", round, took.Seconds())
				}
			}
		}
	}

	return nil
}

func (b *bench) once(c contestant) (time.Duration, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}

	if c.ready != nil {
		if err := c.ready(); err != nil {
			return 0, err
		}
	}

	by, steps := c.by, [][]string{c.argv}
	if by == nil {
		by = b.starter
	}
	if c.steps != nil {
		steps = c.steps()
	}

	var sum time.Duration
	for _, argv := range steps {
		took, err := by.time(argv)
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum, nil
}
