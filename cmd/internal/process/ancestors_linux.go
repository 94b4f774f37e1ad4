package process

import (
	"os"

	"github.com/dpl-project/dpl/protocol/observe"
)

// mostAncestors ends the search where /proc makes no sense.
const mostAncestors = 256

// Ancestors returns this process and those that it descends from, as far as they can be identified.
// A process whose parent has ended is the child of another one.
func Ancestors() (all []observe.Process) {
	for pid := os.Getpid(); pid > 0 && len(all) < mostAncestors; {
		p, err := Identify(pid)
		if err != nil {
			return all
		}
		all = append(all, p)

		s, err := look(pid)
		if err != nil {
			return all
		}
		pid = s.parent
	}
	return all
}
