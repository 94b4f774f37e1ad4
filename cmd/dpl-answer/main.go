// Package answer is dpl-answer, which shows open questions, and answers them.
//
//	dpl-answer [--to NAME]
//	dpl-answer ID [--to NAME]
//	dpl-answer ID [--to NAME] --allow|--deny [TEXT]
//	dpl-answer ID [--to NAME] TEXT
//
// The first answer counts: another one exits 76 (spec §47.2, in spec/questions.md).
package answer

import (
	"cmp"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

type answer struct {
	cli.Common `embed:""`

	ID          cli.TaskID `name:"id" placeholder:"ID" help:"the question, or the beginning of its id; may be given as the first argument"`
	Whom        cli.To     `embed:""`
	Allow       bool       `help:"give the permission"`
	Deny        bool       `help:"deny the permission, or refuse to answer"`
	AllowSelf   bool       `help:"answer a question of one's own operation or process; that is recorded"`
	Sign        cli.Path   `placeholder:"KEY" help:"sign the answer with this key of SSH, for dpl-ask --signers"`
	Follow      bool       `help:"on a terminal: wait for more questions when all are answered"`
	Participant cli.ID     `env:"DPL_PARTICIPANT" placeholder:"ID" help:"who answers (the name of the user)"`
	Words       []cli.Text `arg:"" name:"TEXT" optional:"" passthrough:"partial" placeholder:"[TEXT]" help:"the answer, one of the choices or its number; or why it is allowed or denied"`
}

// Leading returns the flag whose value may be the first argument.
func (*answer) Leading() string { return "id" }

// Validate returns an error for flags that do not go together.
func (c *answer) Validate() error {
	switch {
	case c.Allow && c.Deny:
		return cli.Usagef("--allow and --deny exclude each other")
	case len(c.Words) > 1:
		return cli.Usagef("more than one TEXT: quote it, and give flags before it")
	case c.Sign != "" && c.ID != "" && !c.decides():
		return cli.Usagef("--sign goes with an answer")
	case c.ID == "" && (c.decides() || c.AllowSelf):
		return cli.Usagef("say which question: dpl-answer lists them")
	case c.ID != "" && c.Follow:
		return cli.Usagef("--follow is for all questions: leave out ID")
	}
	return nil
}

// decides reports whether the flags answer the question, instead of showing it.
func (c *answer) decides() bool { return c.Allow || c.Deny || len(c.Words) > 0 }

// Reads makes it a cli.Reader.
func (c *answer) Reads() bool { return c.ID != "" && !c.decides() }

func (c *answer) text() string {
	if len(c.Words) == 0 {
		return ""
	}
	return string(c.Words[0])
}

func (c *answer) Run(env *cli.Env) error {
	id, err := c.Whom.AskQueue()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}

	d := &desk{env: env, flags: c, ledger: l, queue: string(id)}
	switch {
	case c.decides():
		err = d.decide(string(c.ID), c.Allow, c.Deny, c.text())
	case c.ID != "":
		err = d.show(string(c.ID))
	case d.interactive():
		err = d.inbox()
	default:
		err = d.list()
	}
	return cli.InQueue(id, err)
}

// A desk is where questions are answered.
type desk struct {
	env    *cli.Env
	flags  *answer
	ledger *fileops.Ledger
	queue  string
}

// decide answers the question that begins with id.
func (d *desk) decide(id string, allow, deny bool, text string) error {
	q, err := d.ledger.ReadQueue(d.queue)
	if err != nil {
		return err
	}
	if id, err = find(q, id); err != nil {
		return err
	}

	a := queue.Answer{End: queue.EndedAnswered, Text: text, User: cli.UserName(),
		Operation: d.env.Variable("DPL_OP"), Queue: d.env.Variable("DPL_QUEUE"), Task: d.env.Variable("DPL_TASK"),
		Processes: process.Ancestors(), AllowSelf: d.flags.AllowSelf}
	switch {
	case allow:
		a.End = queue.EndedAllowed
	case deny:
		a.End = queue.EndedDenied
	case q.Task(id) != nil:
		if a.Text, err = d.chosen(q.Task(id), text); err != nil {
			return err
		}
	}
	if a.By, err = d.name(a.User); err != nil {
		return err
	}
	if t := q.Task(id); d.flags.Sign != "" && t != nil {
		text := queue.SignedText(d.queue, id, t.EnqueuedAt, t.SpecHash(), a.End, a.Text)
		a.Signature.AskedAt = t.EnqueuedAt
		if a.Signature.Text, err = signing.Sign(string(d.flags.Sign), text); err != nil {
			return fmt.Errorf("--sign %s: %w", d.flags.Sign, err)
		}
	}

	edit, err := d.env.EditQueue(d.ledger, d.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Answer(id, a, seen) })
	if err != nil {
		return fmt.Errorf("answer %q: %w", id, err)
	}
	if d.env.JSON() {
		d.env.PrintJSON(append(cli.QueueResult(edit), cli.Object{{"questionId", id},
			{"end", a.End}, {"answer", cli.OrNull(a.Text)}, {"by", a.By}}...))
	}
	return d.tellTasks(edit.Before.Task(id))
}

// name returns who answers: $DPL_PARTICIPANT or the flag, or else the user.
func (d *desk) name(user string) (string, error) {
	name := cmp.Or(string(d.flags.Participant), user)
	if err := wire.CheckID(name); err != nil {
		return "", cli.Usagef("the user %q has no name that can be recorded: give --participant", user)
	}
	return name, nil
}

// tellTasks has the tasks go on that are blocked on the question t. If this is killed, the next
// edit of their queues does it.
func (d *desk) tellTasks(t *queue.Task) error {
	if t == nil || t.Ask == nil || d.env.DryRun() {
		return nil
	}
	for _, a := range t.Ask.Askers {
		if a.Task == "" {
			continue
		}
		_, err := d.env.EditQueue(d.ledger, a.Queue, fileops.Existing, queue.Queue.Pass)
		if err != nil {
			d.env.Warnf("%s: task %s goes on with the next edit of its queue: %v", a.Queue, a.Task, err)
		}
	}
	return nil
}

// Summary is what dpl-answer does, in one line.
const Summary = "Show open questions, and answer them."

// Main runs dpl-answer.
func Main() {
	cli.Main(&answer{}, Summary,
		"Without arguments it lists them; on a terminal it shows one after the other, and "+
			"asks for a letter. The first answer counts. Exits 76 if the question is decided "+
			"already, or is your own, 4 if it has expired or was withdrawn. Refusing your own "+
			"keeps programs from answering themselves by mistake: what keeps them from it "+
			"altogether is another user.")
}
