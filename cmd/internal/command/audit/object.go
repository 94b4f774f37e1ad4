package audit

import (
	"cmp"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// object has the flags that say whose record is meant.
type object struct {
	Queue cli.QueueID `env:"DPL_QUEUE" placeholder:"QUEUE"`
	Op    cli.ID      `placeholder:"OP" help:"operation"`
	Group cli.ID      `placeholder:"GROUP" help:"group of services"`
}

// open returns the object of the flags.
func (o object) open(l *fileops.Ledger) (fileops.Audited, error) {
	switch {
	case o.Op != "":
		return l.AuditedOperation(string(o.Op))
	case o.Group != "":
		return l.AuditedGroup(string(o.Group))
	}
	return l.AuditedQueue(string(o.Queue))
}

// name returns the id of the object.
func (o object) name() string {
	return cmp.Or(string(o.Op), string(o.Group), string(o.Queue))
}

// given returns how many objects the flags name; queue says whether --queue does.
func (o object) given(queue bool) (count int) {
	for _, is := range []bool{queue, o.Op != "", o.Group != ""} {
		if is {
			count++
		}
	}
	return count
}

// about returns err with the object's name before it.
func (o object) about(err error) error { return cli.InQueue(cli.QueueID(o.name()), err) }

// knownHash is a flag: a hash.
type knownHash string

// UnmarshalText sets h to text.
func (h *knownHash) UnmarshalText(text []byte) error {
	if *h = knownHash(text); !wire.IsHash(string(text)) {
		return fmt.Errorf("want a hash, as --head prints it, not %q", text)
	}
	return nil
}

// Validate returns an error for flags that do not go together.
func (c *auditor) Validate() error {
	actions := 0
	for _, given := range []bool{c.Verify, c.Head, c.Given("at"), c.Seal, c.Note != "", c.On, c.Off} {
		if given {
			actions++
		}
	}

	shows := c.Given("since", "until", "kind", "last", "full")
	switch {
	case c.Object.given(c.Given("queue")) > 1:
		return cli.Usagef("--queue, --op and --group exclude each other")
	case c.Object.name() == "":
		return cli.Usagef("--queue is required, or $DPL_QUEUE; or --op, or --group")
	case actions > 1:
		return cli.Usagef("give only one of --verify, --head, --at, --seal, --note, --on and --off")
	case (c.On || c.Off) && c.Object.given(false) == 0:
		return cli.Usagef("--on and --off go with --op or --group: a queue has a record always")
	case actions == 1 && shows, actions == 1 && c.Task != "" && c.Note == "":
		return cli.Usagef("--since, --until, --task, --kind, --last and --full choose lines to be shown")
	case c.Known != nil && !c.Verify:
		return cli.Usagef("--known goes with --verify")
	case c.Signers != "" && !c.Verify:
		return cli.Usagef("--signers goes with --verify")
	case c.Signers != "" && (c.Object.given(false) > 0 || !queue.IsAskQueue(c.Object.name())):
		return cli.Usagef("--signers is for a queue of questions: ask, or ask.NAME")
	case (c.Note != "") != (c.Data != ""):
		return cli.Usagef("--note and --data go together")
	case c.DryRun && c.Reads():
		return cli.Usagef("--dry-run: this changes nothing")
	case c.Kind != "" && !audit.IsKind(string(c.Kind)):
		return cli.Usagef("--kind: there is no kind %q: see dpl-audit --help", string(c.Kind))
	}
	return nil
}
