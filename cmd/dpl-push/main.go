// Dpl-push adds a call to an operation, which it creates if need be.
//
//	dpl-push --participant ID [--op OP] [--call CALL] [flags]
//
// It prints OP CALL (spec §5.1).
package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

type push struct {
	cli.Operation
	call, participant, supervisor    string
	handle, description              string
	pid                              int
	resources, roots                 []string
	tmp, contained                   bool
	orphanPolicy                     string
	staleness, interval              time.Duration
	noCreate, reuse, shared, asShell bool
}

func (c *push) Define(f *cli.FlagSet) {
	f.String(&c.participant, "participant", "ID", "who makes the call ($DPL_PARTICIPANT); required")
	f.String(&c.Op, "op", "OP", "operation ($DPL_OP); one is made up unless it is given")
	f.String(&c.call, "call", "CALL", "call; one is made up unless it is given")
	f.PID(&c.pid, "pid", "watch process N: when it is gone, the call has crashed")
	f.String(&c.supervisor, "supervisor", "ID", "who cleans up if the call crashes ($DPL_SUPERVISOR)")
	f.Text(&c.handle, "handle", "what the supervisor knows the call by")
	f.String(&c.orphanPolicy, "orphan-policy", "crash|keep", "what becomes of the supervisor's live calls when it dies (crash)")
	f.Text(&c.description, "description", "for people who read the file")
	f.Strings(&c.resources, "resource", "PATH", "delete PATH if the call crashes")
	f.Bool(&c.tmp, "tmp", "make a temporary directory, which goes with the call")
	f.Bool(&c.contained, "no-fail-on-crash", "a crash of this call leaves the operation running")
	f.Duration(&c.staleness, "staleness", "of a new operation: who has not beaten for D has crashed (10s)", time.Millisecond)
	f.Duration(&c.interval, "interval", "of a new operation: how often to beat (1.5s)", time.Millisecond)
	f.Bool(&c.noCreate, "no-create", "fail if there is no operation")
	f.Bool(&c.reuse, "reuse", "begin an archived operation anew")
	f.Bool(&c.asShell, "sh", "print shell exports for eval; on failure, (exit N)")
	f.Bool(&c.shared, "shared", "of a new ledger: share it with the group")
	f.Strings(&c.roots, "resource-root", "DIR", "of a new ledger: let it delete resources below DIR")
}

// Failed gives eval "$(dpl-push --sh …)" the status.
func (c *push) Failed(env *cli.Env, args []string, status int) {
	if c.asShell || slices.Contains(args, "--sh") {
		fmt.Fprintf(env.Stdout, "(exit %d)\n", status)
	}
}

func (c *push) Run(env *cli.Env) error {
	p, op, err := c.arguments(env)
	if err != nil {
		return err
	}
	roots, err := cli.Absolute(c.roots)
	if err != nil {
		return err
	}
	open := env.Open
	if !c.noCreate {
		open = func() (*fileops.Ledger, error) {
			return env.Create(fileops.Config{Shared: c.shared, ResourceRoots: roots})
		}
	}
	l, err := open()
	if err != nil {
		return err
	}
	return c.push(env, l, op, p, roots)
}

func main() {
	cli.Main(&push{}, "Add a call to an operation.",
		"Prints the operation and the call. Beat for it with dpl-heartbeat, end it with dpl-pop. A push that has been done "+
			"already changes nothing. Exits 4 if the operation is over, 69 if the supervisor or process is dead, 76 if the "+
			"operation is not running or knows the call.")
}
