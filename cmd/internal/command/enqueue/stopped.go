package enqueue

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

// mostNamed is how many tasks that will not run are named.
const mostNamed = 3

// warn tells of the tasks that were not added and will not run, and how to run them.
func (c *enqueue) warn(env *cli.Env, stopped []queue.Stopped) {
	again := fmt.Sprintf("%s %s --again", env.Program, c.Queue)
	if len(stopped) <= mostNamed {
		for _, t := range stopped {
			cure := "to run it, enqueue it with another id"
			if t.State == string(queue.Dead) {
				cure = again + " " + t.ID
			}
			env.Warnf("%s: task %q is %s, and will not run: %s", c.Queue, t.ID, t.State, cure)
		}
		return
	}

	var states []string
	counts := make(map[string]int)
	for _, t := range stopped {
		if counts[t.State]++; counts[t.State] == 1 {
			states = append(states, t.State)
		}
	}
	for i, state := range states {
		states[i] = fmt.Sprintf("%d %s", counts[state], state)
	}
	cure := "to run them, enqueue them with other ids"
	if counts[string(queue.Dead)] > 0 {
		cure = fmt.Sprintf("%s %s --dead", env.Program, c.Queue)
	}
	env.Warnf("%s: %d tasks are known, and will not run: %s: %s", c.Queue, len(stopped),
		strings.Join(states, ", "), cure)
}
