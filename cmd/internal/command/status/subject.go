package status

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// checkQueue refuses flags that do not go with --queue and --queues.
func (c *status) checkQueue() error {
	switch {
	case c.Queue == "" && !c.Queues:
		return nil
	case c.Queue != "" && c.Queues:
		return cli.Usagef("--queue and --queues exclude each other")
	case c.givesOp() || c.Group != "" || c.Groups || c.Supervisor != "" || c.Service != "" ||
		c.Log != "":
		return cli.Usagef("--queue and --queues go with none of --op, --group, --groups, " +
			"--service, --supervisor and --log")
	case c.Queues && (c.Why != "" || c.Check != ""):
		return cli.Usagef("--why and --check go with --queue")
	case c.Queue != "" && c.Why != "":
		if err := queue.CheckTaskID(string(c.Why)); err != nil {
			return cli.Usagef("--why: %v", err)
		}
	}
	return nil
}

// givesOp reports whether the command line names an operation. The environment does not count.
func (c *status) givesOp() bool { return c.Given("op") || c.Name != "" && c.Op != "" }

// resolve makes NAME the operation, the group or the queue that is called so.
func (c *status) resolve(l *fileops.Ledger) error {
	if c.Name == "" {
		return nil
	}

	kind, err := cli.KindOf(l, string(c.Name))
	c.Op, c.Group, c.Queue = "", "", ""
	switch kind {
	case cli.KindOperation:
		c.Op = c.Name
	case cli.KindGroup:
		c.Group = c.Name
	case cli.KindQueue:
		c.Queue = cli.QueueID(c.Name)
	default:
		return err
	}
	return c.checkSubject()
}

// subject returns what the flags ask for.
func (c *status) subject(now time.Time) (what subject, err error) {
	switch {
	case c.Groups:
		return subject{onlyGroups: true}, nil
	case c.Queues:
		return subject{onlyQueues: true}, nil
	case c.Queue != "":
		return subject{queue: string(c.Queue)}, nil
	}

	what = subject{op: string(c.Op), run: string(c.RunID), supervisor: string(c.Supervisor),
		group: string(c.Group), service: string(c.Service), all: c.All, since: now.Add(-lately)}
	if c.Since != "" {
		what.since, err = c.Since.Time(now)
	}
	return what, err
}

// whole reports whether s is a ledger and not one thing in it.
func (s subject) whole() bool { return s.op == "" && s.group == "" && s.queue == "" }

// explain answers --why for what is called id in the subject.
func (s *reporter) explain(what subject, id string) error {
	switch {
	case what.queue != "":
		return s.whyTask(what.queue, id)
	case what.group != "":
		return s.whyService(what.group, id)
	}
	return s.why(what, id)
}
