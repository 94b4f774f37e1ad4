package linearize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// placed is a command with its place in an order, counted from 1; 0 if no place was found for it.
type placed struct {
	command
	place int
}

// order returns events with their places in an order that explains them. If there is none, they
// have no places, which porcupine finds illegal, and why says so. It returns an error if it has
// given up.
//
// The result need not be trusted: porcupine judges the order, and a wrong order can make a good
// history illegal, but never a bad one legal. order says that there is none when it has tried all;
// TestOrderAgrees compares that with porcupine's own search. Porcupine alone would try every place
// of each refused and each killed command, which does not end with 32 workers. A killed command
// that said nothing and is not needed is left out, because it may have done nothing.
func order(events []porcupine.Operation) (ordered []porcupine.Operation, why string, err error) {
	s, why := newSearch(events)
	switch {
	case why != "":
	case s.extend(1):
		return s.ordered, "", nil
	case s.tries > mostTries:
		return nil, "", fmt.Errorf("no order found after %d tries: %s", mostTries, s.stuck)
	default:
		why = s.stuck
	}

	var known []porcupine.Operation
	for _, e := range events {
		if !e.Output.(answer).silent {
			known = append(known, in(e, 0))
		}
	}

	return known, why, nil
}

// in returns e in a place.
func in(e porcupine.Operation, place int) porcupine.Operation {
	e.Input = placed{e.Input.(command), place}
	return e
}

// places puts everything that was said between the steps. A command without a step of its own gets
// the first place that explains it and does not precede commands that had ended when it began,
// which constrains later ones least. It reports whether everything has a place.
func (s *search) places() bool {
	last := len(s.states) - 1
	began, ended := s.bounds(s.makers)
	reads := slices.Clone(s.refused)
	for _, seen := range s.seen {
		reads = append(reads, seen...)
	}

	slices.SortFunc(reads,
		func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	over := make([]int, len(reads)) // in the order in which they returned
	for i := range over {
		over[i] = i
	}

	slices.SortFunc(over, func(a, b int) int { return byReturn(reads[a], reads[b]) })
	at, done, first := make([][]porcupine.Operation, last+1), make([]int, len(reads)), 0
	for i, e := range reads {
		for ; reads[over[0]].Return < e.Call; over = over[1:] {
			first = max(first, done[over[0]])
		}

		step := max(first, earliest(ended, e))
		for step <= last && began[step] <= e.Return && !s.explains(step, e) {
			step++
		}

		if step > last || began[step] > e.Return {
			return s.fail(last+1, "nothing explains "+line(e))
		}

		done[i] = step
		at[step] = append(at[step], e)
	}

	for step, here := range at {
		if step > 0 {
			here = append([]porcupine.Operation{s.makers[step]}, here...)
		}
		for _, e := range here {
			s.ordered = append(s.ordered, in(e, len(s.ordered)+1))
		}
	}

	return true
}

// explains reports whether e, which changes nothing, would have said in a step what it said.
func (s *search) explains(step int, e porcupine.Operation) bool {
	after, foreseen := s.states[step].do(e.Input.(command))
	return foreseen.equal(e.Output.(answer)) && stepOf(after) == step
}

// earliest returns the first step that e can have seen: the last one that was certainly made when
// it began.
func earliest(ended []int64, e porcupine.Operation) int {
	step, _ := slices.BinarySearch(ended, e.Call)
	return max(step-1, 0)
}

func line(e porcupine.Operation) string {
	return fmt.Sprintf("client %d, %d to %d ms: %v: %v", e.ClientId, e.Call/1e6, e.Return/1e6,
		e.Input, e.Output)
}

// lines returns the first ten lines.
func lines(events []porcupine.Operation) string {
	var b strings.Builder
	for i, e := range events {
		if i == 10 {
			fmt.Fprintf(&b, "\n    and %d more", len(events)-10)
			break
		}
		fmt.Fprintf(&b, "\n    %s", line(e))
	}

	return b.String()
}
