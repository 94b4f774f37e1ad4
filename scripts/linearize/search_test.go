package linearize

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A search looks for the maker of each step of an operation. Step N leads to revision N; the step
// after the last revision is the move to the archive, if that was seen. Most steps were
// acknowledged. The others were made by killed commands, for which there are many candidates; what
// was seen later decides.
type search struct {
	made    [][]porcupine.Operation // by step, the commands that said they made it
	seen    [][]porcupine.Operation // by step, the commands that said they found it and left it
	refused []porcupine.Operation   // which say no revision, by the time of their return
	silent  []porcupine.Operation   // killed before they said anything, by the time of their death

	began, ended []int64 // by step, between which times it was made, going by made and seen

	states []operation           // by step
	makers []porcupine.Operation // by step
	times  []int64               // by step, when it was made at the earliest, going by makers
	used   map[key]bool          // the commands in makers

	tries    int
	furthest int
	stuck    string                // why there is no step after the furthest
	ordered  []porcupine.Operation // all of it, in the end
}

func byReturn(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) }

// A key is what tells one event of an operation from the others.
type key struct {
	client int
	call   int64
}

func keyOf(e porcupine.Operation) key { return key{e.ClientId, e.Call} }

// mostTries bounds a search. A history needs about one try for each step.
const mostTries = 1_000_000

// stepOf returns the number of the step that makes o.
func stepOf(o operation) int {
	if o.place == archived {
		return int(o.revision) + 1
	}
	return int(o.revision)
}

// step returns the step that a says to have made or found, ok if it says any.
func (a answer) step() (step int, ok bool) {
	switch {
	case a.shown != nil:
		return stepOf(*a.shown), true
	case a.archived:
		return int(a.revision) + 1, true
	}
	return int(a.revision), a.revision > 0
}

// newSearch returns a search through events, or why there is no need of one.
func newSearch(events []porcupine.Operation) (s *search, why string) {
	last := 0
	for _, e := range events {
		step, _ := e.Output.(answer).step()
		last = max(last, step)
	}

	s = &search{
		made: make([][]porcupine.Operation, last+1), seen: make([][]porcupine.Operation, last+1),
		states: make([]operation, last+1), makers: make([]porcupine.Operation, last+1),
		times: make([]int64, last+1),
		used:  map[key]bool{},
	}

	for _, e := range events {
		a := e.Output.(answer)
		switch step, ok := a.step(); {
		case a.silent:
			s.silent = append(s.silent, e)
		case a.changed:
			s.made[step] = append(s.made[step], e)
		case ok:
			s.seen[step] = append(s.seen[step], e)
		default:
			s.refused = append(s.refused, e)
		}
	}

	slices.SortFunc(s.refused, byReturn)
	slices.SortFunc(s.silent, byReturn)
	certain := make([]porcupine.Operation, last+1)

	for step, made := range s.made {
		sure := slices.DeleteFunc(slices.Clone(made), mayArchive)
		if len(sure) > 1 {
			return s, fmt.Sprintf("revision %d was made more than once:%s", step, lines(sure))
		}
		if len(sure) == 1 {
			certain[step] = sure[0]
		}
	}

	s.began, s.ended = s.bounds(certain)

	return s, ""
}

// mayArchive reports whether e may have moved the operation to the archive. Such a heartbeat
// reports the revision, which stays the same, but not whether it has.
func mayArchive(e porcupine.Operation) bool {
	return e.Input.(command).verb == "heartbeat" && e.Output.(answer).status == 4
}

// bounds returns the times between which each step was made, if by makers, some of which may be
// missing.
func (s *search) bounds(makers []porcupine.Operation) (began, ended []int64) {
	began, ended = make([]int64, len(makers)), make([]int64, len(makers))
	var last int64
	for step, e := range makers {
		last = max(last, e.Call)
		began[step] = last
		for _, e := range s.seen[step] {
			last = max(last, e.Call)
		}
	}

	last = math.MaxInt64
	for step, e := range slices.Backward(makers) {
		for _, e := range s.seen[step] {
			last = min(last, e.Return)
		}
		if e.Input != nil {
			last = min(last, e.Return)
		}
		ended[step] = last
	}

	return began, ended
}

// extend finds the makers of the steps from one on.
func (s *search) extend(step int) bool {
	if step == len(s.states) {
		return s.complete()
	}

	candidates := s.candidates(step)
	for _, e := range candidates {
		if s.tries++; s.tries > mostTries {
			return false
		}
		if s.used[keyOf(e)] || !s.make(step, e) {
			continue
		}

		s.used[keyOf(e)] = true
		if s.extend(step + 1) {
			return true
		}

		delete(s.used, keyOf(e))
	}

	if step <= s.furthest {
		return false
	}

	return s.fail(step, fmt.Sprintf("step %d, in %+v: nobody explains it of%s\n  and what was "+
		"said of it%s",
		step, s.states[step-1], lines(candidates), lines(s.seen[step])))
}

// candidates returns who may have made a step.
func (s *search) candidates(step int) []porcupine.Operation {
	all := slices.Clone(s.made[step])
	if slices.ContainsFunc(all, func(e porcupine.Operation) bool { return !mayArchive(e) }) {
		return all
	}

	for _, e := range s.made[step-1] {
		if mayArchive(e) {
			all = append(all, e)
		}
	}

	for _, e := range s.silent {
		if e.Call <= s.ended[step] && s.began[step] <= e.Return {
			all = append(all, e)
		}
	}

	return all
}

// make lets e make a step, and reports whether that agrees with what e said, with the times, and
// with what others have seen.
func (s *search) make(step int, e porcupine.Operation) bool {
	said := e.Output.(answer)
	after, foreseen := s.states[step-1].do(e.Input.(command))
	if said.silent {
		e.Output = foreseen
	} else if !foreseen.equal(said) {
		return false
	}

	if !foreseen.changed || stepOf(after) != step {
		return false
	}

	s.states[step], s.makers[step] = after, e
	s.times[step] = max(s.times[step-1], s.began[step], e.Call)
	if s.times[step] > e.Return {
		return false
	}

	for _, e := range s.seen[step] {
		if !s.explains(step, e) {
			return false
		}
	}

	return s.due(s.times[step-1], s.times[step], step-1)
}

// due reports whether the steps up to upTo explain the refused commands that returned between two
// times.
func (s *search) due(after, before int64, upTo int) bool {
	from, _ := slices.BinarySearchFunc(s.refused, porcupine.Operation{Return: after}, byReturn)
	to, _ := slices.BinarySearchFunc(s.refused, porcupine.Operation{Return: before}, byReturn)
	for _, e := range s.refused[from:to] {
		explained, first := false, earliest(s.ended, e)
		for step := upTo; step > first; step-- {
			if s.makers[step].Return < e.Call {
				first = step
			}
		}

		for step := first; step <= upTo && !explained; step++ {
			explained = s.explains(step, e)
		}

		if !explained {
			return s.fail(upTo+1, "nothing explains "+line(e))
		}
	}

	return true
}

// complete reports whether all commands that have acknowledged a step are makers, and the rest fits
// between the steps.
func (s *search) complete() bool {
	for _, made := range s.made {
		for _, e := range made {
			if !s.used[keyOf(e)] {
				return s.fail(len(s.states), "nothing explains "+line(e))
			}
		}
	}

	s.tries += len(s.states) // it takes as long
	return s.places()
}

// fail keeps why there is no step, if the search has not come further before.
func (s *search) fail(step int, why string) bool {
	if step >= s.furthest {
		s.furthest, s.stuck = step, why
	}
	return false
}
