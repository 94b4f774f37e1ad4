package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

// checkQueue refuses flags that do not go with --queue and --queues.
func (c *status) checkQueue() error {
	switch {
	case c.Queue == "" && !c.Queues:
		return nil
	case c.Queue != "" && c.Queues:
		return cli.Usagef("--queue and --queues exclude each other")
	case c.Given("op") || c.Group != "" || c.Groups || c.Supervisor != "" || c.Service != "" ||
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

// subject returns what the flags ask for.
func (c *status) subject() subject {
	switch {
	case c.Groups:
		return subject{onlyGroups: true}
	case c.Queues:
		return subject{onlyQueues: true}
	case c.Queue != "":
		return subject{queue: string(c.Queue)}
	}

	what := subject{op: string(c.Op), supervisor: string(c.Supervisor), group: string(c.Group),
		service: string(c.Service)}
	if c.IDs && !c.Given("op") {
		what.op = ""
	}
	return what
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
	return s.why(what.op, id)
}
