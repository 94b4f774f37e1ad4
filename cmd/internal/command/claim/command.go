// Package claim is dpl-claim: see cmd/dpl-claim.
package claim

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

type claim struct {
	cli.Queued `embed:""`

	Task        cli.TaskID `env:"DPL_TASK" when:"check" placeholder:"TASK" help:"task"`
	Epoch       cli.Epoch  `env:"DPL_EPOCH" when:"check" placeholder:"N" help:"number of the claim"`
	Participant cli.ID     `env:"DPL_PARTICIPANT" placeholder:"ID"`
	PID         cli.PID    `placeholder:"N" help:"the claim ends with process N, such as $$$$"`
	Op          cli.ID     `env:"DPL_OP" actor:"" placeholder:"OP" help:"operation of --call"`
	Call        cli.ID     `env:"DPL_CALL" actor:"" placeholder:"CALL"`
	Deadline    cli.Span   `placeholder:"D" help:"the claim ends after D"`
	Wait        bool       `help:"wait until a task is ready"`
	Timeout     cli.Span   `placeholder:"D" help:"with --wait: give up after D, and exit 124"`
	Mine        bool       `help:"print the task that this claimer has already"`
	Check       bool       `help:"exit 0 while the claim stands, and 5 when it does not"`
	Sh          bool       `help:"print shell exports for eval, or (exit N) on failure"`
}

// Validate returns an error for flags that do not go together.
func (c *claim) Validate() error {
	switch {
	case c.Check && len(c.GivenBesides("queue", "check", "task", "epoch")) > 0:
		return cli.Usagef("--check goes with --task and --epoch alone")
	case c.Check:
		return nil
	case c.Epoch != 0:
		return cli.Usagef("--epoch goes with --check")
	case c.PID == 0 && c.Call == "" && c.Deadline == 0:
		return cli.Usagef("say what ends the claim if you do not: --pid $$, --call CALL or --deadline D")
	case c.Call != "" && c.Op == "":
		return cli.Usagef("--call goes with --op, or $DPL_OP")
	case c.Participant == "" && c.PID == 0:
		return cli.Usagef("--participant is required without --pid, or $DPL_PARTICIPANT")
	case c.Mine && (c.Wait || c.Task != ""):
		return cli.Usagef("--mine does not go with --wait or --task")
	case c.Timeout != 0 && !c.Wait:
		return cli.Usagef("--timeout goes with --wait")
	case c.Wait && c.DryRun:
		return cli.Usagef("--wait does not go with --dry-run")
	case c.Sh && c.JSON:
		return cli.Usagef("--sh and --json exclude each other")
	}
	return nil
}

// Reads makes it a cli.Reader.
func (c *claim) Reads() bool { return c.Check || c.Mine }

// Failed makes eval "$(dpl-claim --sh …)" fail with the exit status.
func (c *claim) Failed(env *cli.Env, args []string, status int) {
	if c.Sh || slices.Contains(args, "--sh") {
		fmt.Fprintf(env.Stdout, "(exit %d)\n", status)
	}
}

func (c *claim) Run(env *cli.Env) error {
	if c.Check {
		return cli.InQueue(c.Queue, c.check(env))
	}

	claimer, err := c.claimer()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}
	if c.Mine {
		return cli.InQueue(c.Queue, c.mine(env, l, claimer))
	}

	t, err := c.take(env, l, claimer)
	if err != nil || t == nil {
		return cli.InQueue(c.Queue, err)
	}
	if !env.DryRun() {
		c.look(env, l, t)
	}
	return cli.InQueue(c.Queue, c.print(env, l, t))
}

// claimer returns who claims.
func (c *claim) claimer() (queue.Claimer, error) {
	q := queue.Claimer{Participant: string(c.Participant), PID: int(c.PID),
		Call: string(c.Call), Deadline: time.Duration(c.Deadline)}
	if c.Call != "" {
		q.Operation = string(c.Op)
	}
	if q.Participant == "" {
		q.Participant = fmt.Sprintf("pid-%d", c.PID)
	}

	var err error
	q.Process, err = cli.Identify(c.PID)
	return q, err
}

// Summary is what dpl-claim does, in one line.
const Summary = "Take a task from a queue."

//go:embed manual.txt
var manual string

// Main runs dpl-claim.
func Main() {
	cli.Main(&claim{}, Summary, manual)
}
