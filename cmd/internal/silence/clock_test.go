package silence

import (
	"slices"
	"testing"
	"time"
)

const second = time.Second

// The times of seed 004: a nudge after 2 minutes, the end after 4.
var minutes = Limits{Nudge: 120 * second, Stop: 240 * second}

// run looks once a second, and returns the seconds after which something was due.
func run(limits Limits, seconds int, at func(second int) Look) (due []int, last Due) {
	c := Clock{Limits: limits}
	for i := 1; i <= seconds; i++ {
		l := at(i)
		if l.Passed == 0 {
			l.Passed = second
		}
		if d := c.Look(l); d != Nothing {
			due, last = append(due, i), d
		}
		if last == Stop {
			break
		}
	}
	return due, last
}

func TestClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		at     func(second int) Look
		want   []int
		last   Due
	}{
		"silence": {minutes, func(int) Look { return Look{} }, []int{120, 240}, Stop},
		"only a nudge": {Limits{Nudge: 120 * second}, func(int) Look { return Look{} }, []int{120},
			Nudge},
		"only a limit": {Limits{Stop: 240 * second}, func(int) Look { return Look{} }, []int{240},
			Stop},
		"output all the time": {minutes, func(i int) Look { return Look{Grown: i%119 == 0} }, nil,
			Nothing},
		"output arms again": {minutes, func(i int) Look { return Look{Grown: i == 130} },
			[]int{120, 250, 370}, Stop},
		"output of the second at which the end is due": {minutes,
			func(i int) Look { return Look{Grown: i == 240} }, []int{120, 360, 480}, Stop},
		"waits for an hour": {minutes, func(i int) Look { return Look{Waits: i > 60 && i <= 3660} },
			[]int{3720, 3840}, Stop},
		"waits when the nudge is due": {minutes,
			func(i int) Look { return Look{Waits: i >= 120 && i < 200} }, []int{200, 320}, Stop},
		"waits when the end is due": {minutes, func(i int) Look { return Look{Waits: i >= 240} },
			[]int{120}, Nudge},
		"output while it waits": {minutes,
			func(i int) Look { return Look{Waits: i > 100 && i < 200, Grown: i == 150} },
			[]int{319, 439}, Stop},
		"asleep": {minutes, func(i int) Look {
			if i == 100 {
				return Look{Passed: 8 * time.Hour}
			}
			return Look{}
		}, []int{119, 239}, Stop},
		"the nudge takes long": {minutes, func(i int) Look { return Look{Nudging: i < 180} },
			[]int{180, 240}, Stop},
	} {
		due, last := run(c.limits, 4000, c.at)
		if !slices.Equal(due, c.want) || last != c.last {
			t.Errorf("%s: got %v, at last %q; want %v, %q", name, due, last, c.want, c.last)
		}
	}
}

func TestEvery(t *testing.T) {
	t.Parallel()
	for limits, want := range map[Limits]time.Duration{
		{}:                                   second,
		minutes:                              second,
		{Nudge: 10 * second}:                 500 * time.Millisecond,
		{Stop: 10 * second}:                  500 * time.Millisecond,
		{Nudge: second, Stop: 1000 * second}: 50 * time.Millisecond,
		{Stop: time.Millisecond}:             10 * time.Millisecond,
	} {
		if got := limits.Every(); got != want {
			t.Errorf("%+v: got %v, want %v", limits, got, want)
		}
	}
}
