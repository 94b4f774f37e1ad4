// Package wait is dpl-wait: see cmd/dpl-wait.
package wait

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
)

type wait struct {
	cli.Common `embed:""`

	Op      []cli.ID      `env:"DPL_OP" placeholder:"OP" help:"operation"`
	For     protocol.Goal `default:"" enum:"running,aborted,cleanup,completed,failed,terminal,change,done,settled,dead,empty,halted," placeholder:"STATE"`
	Ready   []cli.ID      `placeholder:"ID"`
	Ended   []cli.ID      `placeholder:"ID"`
	Group   cli.ID        `env:"DPL_GROUP" when:"ready,ended" placeholder:"GROUP"`
	Any     bool          `help:"wait for only one of several, and print those that match"`
	Since   *cli.Count    `placeholder:"N"`
	Queue   cli.QueueID   `placeholder:"QUEUE"`
	Task    []cli.TaskID  `placeholder:"TASK" help:"task of the queue"`
	Timeout cli.Span      `placeholder:"D" help:"give up after D, and exit 124"`
	PID     cli.PID       `placeholder:"N"`
	Call    cli.ID        `placeholder:"CALL"`
}

// Refuses makes it a cli.Refuser.
func (*wait) Refuses() []string { return []string{"dry-run"} }

// Validate refuses flags that do not go together.
func (c *wait) Validate() error {
	if err := c.goal(); err != nil {
		return err
	}
	switch {
	case c.DryRun:
		return cli.Usagef("--dry-run: waiting changes nothing")
	case c.Queue != "" && (c.Ready != nil || c.Ended != nil || c.Group != "" || c.Given("op")):
		return cli.Usagef("--queue does not go with --op, --group, --ready or --ended")
	case c.Since != nil && c.For != protocol.GoalChange:
		return cli.Usagef("--since goes with --for change")
	case c.Group != "" && c.Given("op"):
		return cli.Usagef("--group does not go with --op")
	case c.Ended != nil && (c.Ready != nil || c.Given("op")):
		return cli.Usagef("--ended does not go with --ready or --op")
	case c.Group != "" && c.Ready == nil && c.Ended == nil:
		return cli.Usagef("--group goes with --ready or --ended")
	case c.Ready == nil && c.Ended == nil && c.Op == nil && c.Queue == "":
		return cli.Usagef("--op is required, or $DPL_OP; or --group or --queue")
	case (c.Ready != nil || c.Ended != nil) && c.For != protocol.GoalTerminal:
		return cli.Usagef("--ready and --ended do not go with --for")
	}

	return nil
}

// Reads makes it a cli.Reader: its janitors do nothing where they may not edit.
func (c *wait) Reads() bool { return true }

func (c *wait) Run(env *cli.Env) error {
	life, err := c.life(env)
	if err != nil {
		return err
	}
	defer life.Close()
	if c.Queue != "" {
		return c.waitQueue(env, life)
	}
	w, err := c.waiter(env, life)
	if err != nil {
		return err
	}
	defer w.close()
	return w.wait()
}

// life returns the Life of the process or call that the flags name.
func (c *wait) life(env *cli.Env) (*follow.Life, error) {
	who := queue.Claimer{PID: int(c.PID), Call: string(c.Call)}
	if c.Call != "" {
		var op cli.ID
		text := env.Variable("DPL_OP")
		if text == "" {
			return nil, cli.Usagef("--call %s is a call of $DPL_OP, which is not set for this ledger",
				c.Call)
		}
		if err := op.UnmarshalText([]byte(text)); err != nil {
			return nil, cli.Usagef("$DPL_OP: %v", err)
		}
		who.Operation = string(op)
	}

	var err error
	who.Process, err = cli.Identify(c.PID)
	return follow.NewLife(who), err
}

// Summary is what dpl-wait does, in one line.
const Summary = "Wait until operations, services or tasks reach a state."

//go:embed manual.txt
var manual string

// Main runs dpl-wait.
func Main() {
	cli.Main(&wait{}, Summary, manual)
}
