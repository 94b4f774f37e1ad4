// Package ask is dpl-ask: see cmd/dpl-ask.
package ask

import (
	_ "embed"
	"fmt"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type ask struct {
	cli.Common `embed:""`

	Question cli.Word   `placeholder:"TEXT"`
	Kind     string     `default:"" enum:"permission,question," placeholder:"permission|question"`
	Choice   []cli.Word `placeholder:"TEXT"`
	Input    cli.Path   `placeholder:"FILE"`
	Whom     cli.To     `embed:""`

	Rules              []cli.Path `placeholder:"FILE"`
	Signers            cli.Path   `placeholder:"FILE"`
	Fresh              cli.Span   `placeholder:"D"`
	AllowWritableRules bool       `help:"obey --rules and --signers that the asker could change"`
	ExplainRules       bool

	Timeout cli.Span `placeholder:"D"`
	Wait    cli.Span `placeholder:"D"`
	Key     cli.Word `placeholder:"TEXT"`
	Park    bool
	OnAlert cli.Word `placeholder:"COMMAND"`

	Participant cli.ID  `env:"DPL_PARTICIPANT" placeholder:"ID"`
	Op          cli.ID  `env:"DPL_OP" placeholder:"OP" help:"operation of --call"`
	Call        cli.ID  `env:"DPL_CALL" placeholder:"CALL"`
	PID         cli.PID `placeholder:"N"`

	NewLedger cli.NewLedger `embed:""`
}

// Leading returns the flag whose value may be the first argument.
func (*ask) Leading() string { return "question" }

// Validate returns an error for flags that do not go together.
func (c *ask) Validate() error {
	permission := c.kind() == queue.AskPermission
	switch {
	case c.ExplainRules:
		return c.validateExplain()
	case c.Question == "":
		return cli.Usagef("what is to be asked? dpl-ask TEXT")
	case c.Kind == string(queue.AskPermission) && c.Choice != nil:
		return cli.Usagef("--choice is for a question: a permission is allowed or denied")
	case !permission && (c.Input != "" || c.Rules != nil):
		return cli.Usagef("--input and --rules are for a permission: leave out --kind question and --choice")
	case (c.Fresh != 0) != (c.Signers != "" && (c.Key != "" || c.Park)):
		return cli.Usagef("--fresh D goes with --signers and --key or --park: who asks may come back, " +
			"and a signature of before counts for D")
	case c.Rules != nil && c.Input == "":
		return cli.Usagef("--rules needs --input: rules are about a tool and a command")
	case c.Rules == nil && c.Signers == "" && c.AllowWritableRules:
		return cli.Usagef("--allow-writable-rules goes with --rules or --signers")
	case c.Wait != 0 && c.Key == "":
		return cli.Usagef("--wait needs --key: otherwise nobody could come back for the answer")
	case c.Park && c.Wait != 0:
		return cli.Usagef("--park does not wait: leave out --wait")
	case c.Op != "" && c.Call == "" && c.Given("op"):
		return cli.Usagef("--op goes with --call")
	case c.Call != "" && c.Op == "":
		return cli.Usagef("--call goes with --op, or $DPL_OP")
	}
	for _, choice := range c.Choice {
		if _, err := strconv.Atoi(string(choice)); err == nil {
			return cli.Usagef("--choice %s: a number as the answer is the place of a choice: "+
				"write it with a word", choice)
		}
	}
	return nil
}

// kind returns what kind of answer is wanted: a permission, unless --kind or --choice says
// otherwise.
func (c *ask) kind() queue.AskKind {
	switch {
	case c.Kind != "":
		return queue.AskKind(c.Kind)
	case c.Choice != nil:
		return queue.AskQuestion
	}
	return queue.AskPermission
}

// HostTime makes it a cli.HostTimer.
func (*ask) HostTime() {}

// Reads makes it a cli.Reader.
func (c *ask) Reads() bool { return c.ExplainRules }

func (c *ask) Run(env *cli.Env) error {
	if c.ExplainRules {
		return c.explain(env)
	}
	defer c.limit(env).Stop()
	id, err := c.Whom.AskQueue()
	if err != nil {
		return err
	}
	q, err := c.question(env)
	if err != nil {
		return err
	}
	signers, verifier := "", ""
	if c.Signers != "" {
		if signers, err = c.trusted(string(c.Signers)); err == nil {
			verifier, err = signing.Verifier()
		}
		if err == nil {
			verifier, err = c.trusted(verifier)
		}
		if err != nil {
			return fmt.Errorf("--signers: %w", err)
		}
	}
	l, err := c.NewLedger.Create(env)
	if err != nil {
		return err
	}
	if err := c.sign(env, l, &q); err != nil {
		return cli.InQueue(id, err)
	}

	life, err := c.life(l)
	if err != nil {
		return cli.InQueue(id, err)
	}
	defer life.Close()

	a := &asking{env: env, flags: c, ledger: l, queue: string(id), question: q,
		signers: signers, verifier: verifier, life: life}
	if err = a.ask(); err == nil {
		err = a.finish()
	}
	return cli.InQueue(id, err)
}

// life returns the Life of the process or call that flags name, for which this asks. $DPL_CALL does
// not count: its end withdraws the question.
func (c *ask) life(l *fileops.Ledger) (*follow.Life, error) {
	who := queue.Claimer{PID: int(c.PID)}
	if c.Given("call") {
		who.Operation, who.Call = string(c.Op), string(c.Call)
	}
	var err error
	who.Process, err = cli.Identify(c.PID)
	life := follow.NewLife(who)
	life.In(l)
	return life, err
}

// finish waits for the answer, or parks the task.
func (a *asking) finish() error {
	done, err := a.result(a.after)
	switch {
	case done, err != nil && (a.flags.Park || a.env.DryRun()):
		return err
	case a.env.DryRun():
		return fmt.Errorf("a person would be asked: %w", errOpen())
	case a.flags.Park:
		return a.park()
	}
	ending := follow.CatchEnding() // before anybody is told that there is a question to be withdrawn
	a.alert()
	return a.wait(ending)
}

// Summary is what dpl-ask does, in one line.
const Summary = "Ask a person, and wait for the answer."

//go:embed manual.txt
var manual string

// Main runs dpl-ask.
func Main() {
	cli.Main(&ask{}, Summary, manual)
}
