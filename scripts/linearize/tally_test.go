package linearize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A tally counts what happened in histories.
type tally map[string]int

func (t tally) String() string {
	var words []string
	for _, what := range slices.Sorted(maps.Keys(t)) {
		words = append(words, fmt.Sprint(what, " ", t[what]))
	}
	return strings.Join(words, ", ")
}

func (t tally) add(h *history) {
	for what, n := range h.tally() {
		t[what] += n
	}
}

// tally counts events of h: crashed are the calls reported to their supervisors, killed the
// processes that were killed in time.
func (h *history) tally() tally {
	t := tally{
		"histories": 1, "milliseconds": int(h.took.Milliseconds()),
		"milliseconds judging": int(h.judged.Milliseconds()),
		"processes":            int(h.processes.Load()), "killed": int(h.deaths.Load()),
		"edits by killed": h.found,
	}

	for id, events := range h.events {
		last := h.shown(id)
		if last.place == nowhere {
			continue
		}

		t["operations"]++
		t["operations "+last.state]++
		if last.aborted {
			t["operations aborted"]++
		}
		if last.place == archived {
			t["operations archived"]++
		}

		for _, e := range events {
			t.event(e.Input.(command), e.Output.(answer))
		}
	}

	return t
}

func (t tally) event(c command, a answer) {
	t["answers"]++
	if c.verb == "heartbeat" {
		t["crashes reported"] += len(a.reported())
	}

	switch {
	case a.silent:
		t["silent"]++
	case a.status >= 64:
		t["refused"]++
		t[fmt.Sprint("refused with ", a.status)]++
	case a.changed:
		t["edits"]++
		t["edits by "+c.verb]++
	}
}
