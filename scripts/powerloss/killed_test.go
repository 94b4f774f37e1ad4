package powerloss

import (
	"fmt"
	"slices"
	"testing"
)

// repeatable is the commands that may be repeated when they were killed, by scenario.
var repeatable = map[string][]int{"calls": {0, 1}, "abort": {2}, "group": {0, 4, 7}, "fresh": {2},
	"queue": {0, 2, 4, 8, 10}}

// killed is how a command exits that was killed.
const killed = -1

// killAll kills the command at before each of its fsyncs, repeats it, and then cuts the power. A
// user who repeats a killed command, which then reports success, relies on what the killed one has
// done.
func killAll(t *testing.T, s Scenario, at int, c commitment, bin string) {
	t.Helper()
	victim := s.Commands[at]
	victim.Status = killed
	s.Commands = append(slices.Clone(s.Commands[:at]), victim, s.Commands[at])
	tries := 0

	for fsync := 1; ; {
		r, fsyncs := kill(t, s, at, fsync, bin)
		if r == nil && fsync > fsyncs {
			t.Logf("killed before each of %d fsyncs", fsyncs)
			return
		}

		if tries++; r == nil && tries < 100 {
			continue // strace counts for each thread, and Go has changed to another, as it does often on a slow disk
		}
		if r == nil {
			t.Fatalf("it cannot be killed before fsync %d of %d", fsync, fsyncs)
		}

		r.ordered = c.ordered
		_, wrong, err := checker{recording: r, bin: bin}.all()
		if err != nil {
			t.Fatal(err)
		}

		for _, err := range wrong[:min(len(wrong), 1)] {
			t.Errorf("killed before fsync %d, repeated: %v", fsync, err)
		}

		fsync, tries = fsync+1, 0
	}
}

// kill returns a recording in which the command at was killed before one of its fsyncs, and
// repeated. If it ended by itself, kill returns nil and its number of fsyncs.
func kill(t *testing.T, s Scenario, at, fsync int, bin string) (r *recording, fsyncs int) {
	t.Helper()
	r = begin(t, s)
	for range at {
		r.next(t, bin)
	}

	r.from = at + 1
	if r.trace(t, bin, "-E", "GOMAXPROCS=1", "-e",
		fmt.Sprintf("inject=fsync:signal=KILL:when=%d", fsync)) == nil {
		r.next(t, bin)
		return r, 0
	}

	for _, c := range r.steps[at].trace.calls {
		if c.name == "fsync" {
			fsyncs++
		}
	}

	return nil, fsyncs
}
