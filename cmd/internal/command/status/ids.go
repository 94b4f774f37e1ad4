package status

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// ids prints only ids, in the order of the table: the groups, the queues, the services of group,
// the tasks of queue that have not ended, the calls of op beginning with the root, or the
// operations that are not archived. For groups and operations it reads no file.
func (s *reporter) ids(what subject) error {
	ids, err := s.listed(what)
	if err != nil {
		return err
	}

	if s.machine() {
		return s.print(cli.Object{{"ids", ids}}, "ids")
	}

	for _, id := range ids {
		fmt.Fprintln(s.env.Stdout, id)
	}
	return nil
}

func (s *reporter) listed(what subject) (ids []string, err error) {
	switch {
	case what.onlyGroups:
		return s.ledger.Groups()
	case what.onlyQueues:
		var p picture
		err := s.readQueues(&p) // those that were removed have a file, too
		for _, q := range p.queues {
			ids = append(ids, q.ID)
		}
		return ids, errors.Join(append(p.warnings, err)...)
	case what.queue != "":
		q, err := s.ledger.ReadQueue(what.queue)
		for _, t := range q.Tasks {
			ids = append(ids, t.ID)
		}
		return ids, cli.Named("status", what.queue, "", err)
	case what.group != "":
		g, err := s.ledger.ReadGroup(what.group)
		for _, s := range g.Registry.Services {
			ids = append(ids, s.ID)
		}
		return ids, cli.Named("status", what.group, "", err)
	case what.op != "":
		o, _, err := s.ledger.ReadOperation(what.op)
		for _, f := range o.Stack {
			ids = append(ids, f.CallID)
		}
		return ids, cli.Named("status", what.op, "", err)
	}

	return s.ledger.IDs()
}
