// Package answer is dpl-answer: see cmd/dpl-answer.
package answer

import (
	"cmp"
	_ "embed"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

type answer struct {
	cli.Common `embed:""`

	ID          cli.TaskID `name:"id" placeholder:"ID"`
	Whom        cli.To     `embed:""`
	IDs         bool       `name:"ids" help:"print the ids of the open questions, and nothing else"`
	Shown       cli.Word   `placeholder:"HASH"`
	Allow       bool       `help:"give the permission"`
	Deny        bool       `help:"deny the permission, or refuse to answer"`
	AllowSelf   bool
	Sign        cli.Path   `placeholder:"KEY"`
	Follow      bool       `help:"on a terminal: wait for more questions when all are answered"`
	Participant cli.ID     `env:"DPL_PARTICIPANT" placeholder:"ID"`
	Words       []cli.Text `arg:"" name:"TEXT" optional:"" passthrough:"partial" placeholder:"[TEXT]"`
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
	case c.IDs && (c.ID != "" || c.Follow):
		return cli.Usagef("--ids is for all questions: leave out the rest")
	case c.Shown != "" && !c.decides():
		return cli.Usagef("--shown goes with ID and an answer: add --allow, --deny or a text")
	case c.ID != "" && c.Follow:
		return cli.Usagef("--follow is for all questions: leave out ID")
	}
	return nil
}

// decides reports whether the flags answer the question, instead of showing it.
func (c *answer) decides() bool { return c.Allow || c.Deny || len(c.Words) > 0 }

// Reads makes it a cli.Reader.
func (c *answer) Reads() bool { return c.ID != "" && !c.decides() }

// HostTime makes it a cli.HostTimer.
func (*answer) HostTime() {}

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
		err = d.say(string(c.ID))
	case c.ID != "":
		err = d.show(string(c.ID))
	case d.interactive() && !c.IDs:
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

// An utterance is what a person says to a question.
type utterance struct {
	allow, deny bool // neither: text is the answer
	text        string
}

// yes reports whether u lets who has asked do something.
func (u utterance) yes() bool { return !u.deny }

// say answers the question that begins with id as the flags say, if a person can have seen all of
// it: its hash is given, or it is drawn now, or the list shows it.
func (d *desk) say(id string) error {
	q, seen, err := d.read()
	if err != nil {
		return err
	}
	if id, err = d.find(q, id, seen.Now); err != nil {
		return err
	}
	u := utterance{d.flags.Allow, d.flags.Deny, d.flags.text()}
	if other := q.Task(u.text); other != nil && other.Ask != nil { // as $(dpl-answer --ids) may say
		return cli.Usagef("%s and %s: answer one question at a time", id, other.ID)
	}
	t := q.Task(id)
	if t == nil || t.Ask == nil { // the verb tells why it cannot be answered
		return d.decide(id, u, string(d.flags.Shown))
	}
	if u, err = d.chosen(t, u); err != nil {
		return err
	}

	shown := t.Shown(d.queue).Hash()
	_, listed := t.Listed()
	drawn := false
	switch {
	case d.flags.Shown != "":
		shown = string(d.flags.Shown)
	case d.interactive() && (u.yes() || d.flags.Sign != ""):
		if err := d.confirm(t, u, seen); err != nil {
			return err
		}
		drawn = true
	case d.flags.Sign != "":
		return cli.Usagef("--sign needs --shown HASH where there is no terminal: what was not shown is not signed")
	case u.yes() && !listed:
		return cli.WithStatus(cli.StatusRefused, fmt.Errorf("%s: the list does not show all of it: give "+
			"--shown HASH, which dpl-answer %[1]s --json prints", t.ID))
	}
	spec, err := d.spec(t)
	if err == nil {
		err = d.decide(t.ID, u, shown)
	}
	if err != nil || d.env.JSON() || drawn {
		return err
	}
	style := screen.Messages()
	fmt.Fprintf(d.env.Stderr, "%s: %s\n%s", t.ID, end(u), style.Quote(spec.Text))
	if u.text != "" {
		fmt.Fprint(d.env.Stderr, "answer:\n", style.Quote(u.text))
	}
	return nil
}

// end returns how a question ends to which u is said.
func end(u utterance) queue.TaskEnd {
	switch {
	case u.allow:
		return queue.EndedAllowed
	case u.deny:
		return queue.EndedDenied
	}
	return queue.EndedAnswered
}

// note keeps what is asked as a note, because the spec of a question is deleted some time after its
// end, but who reads the record has to know what was signed.
func (d *desk) note(id string) error {
	q, err := d.ledger.ReadQueue(d.queue)
	if err != nil || d.env.DryRun() {
		return err
	}
	t := q.Task(id)
	if t == nil || t.Ask == nil { // the verb says why it cannot be answered
		return nil
	}
	content, err := d.ledger.ReadSpec(d.queue, t)
	if err != nil {
		return err
	}
	note, err := d.ledger.AddNote("question", id, string(content)+"\n")
	if err != nil {
		return err
	}
	object, err := d.ledger.AuditedQueue(d.queue)
	if err != nil {
		return err
	}
	return object.Note(note)
}

// decide answers the question id, which was shown with that hash.
func (d *desk) decide(id string, u utterance, shown string) (err error) {
	a := queue.Answer{End: end(u), Text: u.text, User: cli.UserName(), Shown: shown,
		Operation: d.env.Variable("DPL_OP"), Queue: d.env.Variable("DPL_QUEUE"), Task: d.env.Variable("DPL_TASK"),
		AllowSelf: d.flags.AllowSelf}
	a.Processes, a.Whole = process.Ancestors()
	if a.By, err = d.name(a.User); err != nil {
		return err
	}
	if d.flags.Sign != "" {
		a.SignedAt = wire.Moment(d.env.Now())
		text := queue.SignedText(shown, a.End, a.Text, a.SignedAt)
		if a.Signature, err = signing.Sign(string(d.flags.Sign), text); err != nil {
			return fmt.Errorf("--sign %s: %w", d.flags.Sign, err)
		}
		if err := d.note(id); err != nil {
			return err
		}
	}

	edit, err := d.env.EditQueue(d.ledger, d.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Answer(id, a, seen) })
	if err != nil {
		return fmt.Errorf("answer %q: %w", id, err)
	}
	t := edit.Before.Task(id)
	if d.env.JSON() {
		ended, _ := d.ledger.EndedTask(edit.After, id)
		text := any(nil)
		if ended.Decision != nil {
			text = ended.Decision.Text
		}
		d.env.PrintJSON(append(cli.QueueResult(edit), cli.Object{{"questionId", id}, {"text", text},
			{"shown", cli.OrNull(shown)}, {"end", a.End}, {"answer", cli.OrNull(a.Text)}, {"by", a.By}}...))
	}
	return d.unblockTasks(t)
}

// name returns who answers: $DPL_PARTICIPANT or the flag, or else the user.
func (d *desk) name(user string) (string, error) {
	name := cmp.Or(string(d.flags.Participant), user)
	if err := wire.CheckID(name); err != nil {
		return "", cli.Usagef("the user %q has no name that can be recorded: give --participant", user)
	}
	return name, nil
}

// unblockTasks has the tasks go on that are blocked on the question t. If this is killed, the next
// edit of their queues does it.
func (d *desk) unblockTasks(t *queue.Task) error {
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

//go:embed manual.txt
var manual string

// Main runs dpl-answer.
func Main() {
	cli.Main(&answer{}, Summary, manual)
}
