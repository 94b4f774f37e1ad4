// Package ask is dpl-ask: see cmd/dpl-ask.
package ask

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type ask struct {
	cli.Common `embed:""`

	Question cli.Word   `placeholder:"TEXT" help:"the question; may be given as the first argument, but a text of others is safe only as --question=TEXT, because it may begin with a hyphen"`
	Kind     string     `default:"" enum:"permission,question," placeholder:"permission|question" help:"permission: it is allowed or denied (the default); question: it is answered with a text"`
	Choice   []cli.Word `placeholder:"TEXT" help:"an answer that may be chosen; makes it a question, and may be repeated"`
	Input    cli.Path   `placeholder:"FILE" help:"the request for a permission: a JSON object with tool, and argv or command; - is standard input"`
	Whom     cli.To     `embed:""`

	Rules              []cli.Path `placeholder:"FILE" help:"rules that may decide at once; deny goes before ask, and ask before allow, in all files"`
	Signers            cli.Path   `placeholder:"FILE" help:"take no yes from a person without a signature by one of FILE, as ssh-keygen -Y verify has it"`
	Fresh              cli.Span   `placeholder:"D" help:"with --signers, and --key or --park: a signature counts for D"`
	AllowWritableRules bool       `help:"obey --rules and --signers that the asker could change"`
	ExplainRules       bool       `help:"ask nothing: list the rules of --rules; with --input, say why each one matches or not, and what they decide"`

	Timeout cli.Span `placeholder:"D" help:"unanswered after D it is over (5m for a permission, 24h for a question)"`
	Wait    cli.Span `placeholder:"D" help:"with --key: wait for D only, and exit 75; asking again goes on waiting"`
	Key     cli.Word `placeholder:"TEXT" help:"join the question with this key, of the same task or else operation, or find its answer"`
	Park    bool     `help:"do not wait: block the task of this attempt on the question, and exit 75"`
	OnAlert cli.Word `placeholder:"COMMAND" help:"run COMMAND with sh, to tell a person of the question: a line of JSON is its input"`

	Participant cli.ID  `env:"DPL_PARTICIPANT" placeholder:"ID" help:"who asks (that of the call, or dpl-ask-PID)"`
	Op          cli.ID  `env:"DPL_OP" placeholder:"OP" help:"operation of --call"`
	Call        cli.ID  `env:"DPL_CALL" placeholder:"CALL" help:"the call that asks: its end withdraws the question"`
	PID         cli.PID `placeholder:"N" help:"the process that asks, such as $PPID, where there is no call: one above dpl-ask, whose end withdraws the question"`

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

// Main runs dpl-ask.
func Main() {
	cli.Main(&ask{}, Summary,
		"Prints the answer. Exits 0 if it was answered or allowed: any other status is no. 1: "+
			"it was denied; 124: nobody answered in time; 5: it was withdrawn; 75: it is still "+
			"open; 77: the asker could change --rules or --signers, or a yes does not count: it was "+
			"given to another question, is in no line of the record, or has no signature by one of "+
			"--signers. A person answers with dpl-answer; dpl-status --queue ask also shows "+
			"the question. It is withdrawn when nobody waits for the answer any more: dpl-ask was "+
			"killed, or with --key, the call or process that asks has ended.")
}
