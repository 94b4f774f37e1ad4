package register

import (
	"os/exec"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
)

// warnDoubtful warns of what keeps COMMAND from starting now. It may be put right before a pass
// starts it.
func (c *register) warnDoubtful(env *cli.Env) {
	if c.EnvFile != nil {
		if _, err := start.Environment(nil, string(*c.EnvFile)); err != nil {
			env.Warnf("%s: %q: it cannot start now: %v", c.Group, c.Service, err)
		}
	}

	if len(c.Command) != 1 || !strings.ContainsAny(c.Command[0], " \t\n") {
		return
	}
	if _, err := exec.LookPath(c.Command[0]); err != nil {
		env.Warnf("%s: %q: no program is called %q, and COMMAND has no shell: give -- sh -c '...'",
			c.Group, c.Service, c.Command[0])
	}
}
