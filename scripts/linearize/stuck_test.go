package linearize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// stuck tells where the longest explanation of events that porcupine has found ends: the states it ends in, and the commands
// that could have been next, with what they should have said.
func stuck(info porcupine.LinearizationInfo, events []porcupine.Operation) string {
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	m := model()
	state, explained := m.Init(), map[string]bool{}
	for _, e := range longest {
		_, state = m.Step(state, e.Input, e.Output)
		explained[key(e)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(events), func(e porcupine.Operation) bool { return explained[key(e)] })
	end := rest[0].Return
	for _, e := range rest {
		end = min(end, e.Return)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d are explained", len(longest), len(events))
	for _, s := range state.([]any) {
		fmt.Fprintf(&b, "\n  in %+v", s)
		for _, e := range rest {
			if e.Call <= end {
				_, foreseen := s.(operation).do(e.Input.(command))
				fmt.Fprintf(&b, "\n    %v\n      said  %+v\n      wants %+v", e.Input, e.Output, foreseen)
			}
		}
	}
	return b.String()
}

func key(e porcupine.Operation) string { return fmt.Sprint(e.ClientId, " ", e.Call) }
