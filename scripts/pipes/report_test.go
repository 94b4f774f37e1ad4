//go:build linux

package pipes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// A tally counts trials.
type tally struct {
	trials, hit       int
	outs              map[string]int // without the exceptions
	before, beforeCut int            // killed before the command had started; of these truncated
	unkept, unkeptCut int            // dpl-run and keeper killed; of these truncated
	problems          int
	durations         []time.Duration
}

func (c *tally) count(t *trial) {
	if c.outs == nil {
		c.outs = make(map[string]int)
	}
	c.trials++
	if t.bad() {
		c.problems++
	}
	if len(t.hit) > 0 || t.fault == exits {
		c.hit++
		c.durations = append(c.durations, t.took)
	}

	cut := 0
	if t.out == truncated {
		cut = 1
	}
	switch {
	case t.tooEarly():
		c.before++
		c.beforeCut += cut
	case t.unkept():
		c.unkept++
		c.unkeptCut += cut
	default:
		c.outs[t.out]++
	}
}

const heading = "\ttrials\twith fault\twhole\tabsent\ttruncated\ttoo early: truncated\t" +
	"dpl-run+keeper: truncated\tproblems\tmedian\tlongest\n"

func (c *tally) line() string {
	slices.Sort(c.durations)
	var median, longest time.Duration
	if n := len(c.durations); n > 0 {
		median, longest = c.durations[n/2], c.durations[n-1]
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%d\t%d of %d\t%d of %d\t%d\t%.1f s\t%.1f s\n", c.trials, c.hit,
		c.outs[whole], c.outs[absent], c.outs[truncated], c.beforeCut, c.before, c.unkeptCut, c.unkept,
		c.problems, median.Seconds(), longest.Seconds())
}

// report logs tables of the trials: by variant, and by what was killed.
func report(t testing.TB, made []*trial) {
	t.Helper()
	slices.SortFunc(made, func(a, b *trial) int { return cmp.Compare(a.number, b.number) })
	rows := func(title string, of func(*trial) string) {
		var order []string
		tallies := make(map[string]*tally)
		for _, tried := range made {
			name := of(tried)
			if tallies[name] == nil {
				order, tallies[name] = append(order, name), new(tally)
			}
			tallies[name].count(tried)
		}

		slices.Sort(order)
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprint(w, title, heading)
		for _, name := range order {
			fmt.Fprint(w, name, "\t", tallies[name].line())
		}
		w.Flush()
		t.Logf("\n%s", b.String())
	}

	rows("variant", func(t *trial) string { return t.variant.String() })
	rows("fault", (*trial).kind)
	rows("all", func(*trial) string { return "" })
}

// kind describes the fault of a trial, as it was.
func (t *trial) kind() string {
	switch {
	case t.fault == exits:
		return "exit 1 of " + t.exits
	case t.tooEarly():
		return "killed too early: dpl-run of " + t.hit[0].stage
	case t.unkept():
		return "dpl-run and keeper of a stage killed"
	case len(t.hit) == 0:
		return "none"
	case len(t.hit) > 1:
		return "several killed"
	}
	return "killed: " + t.hit[0].String()
}
