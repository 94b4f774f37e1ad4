package main

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// ids prints only ids, in the order of the table: the groups, the services of group, the calls of
// op beginning with the root, or the operations that are not archived. For groups and operations it
// reads no file.
func (s *reporter) ids(op, group string, groups bool) error {
	ids, err := s.listed(op, group, groups)
	if err != nil {
		return err
	}

	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{"ids", ids}})
		return nil
	}

	for _, id := range ids {
		fmt.Fprintln(s.env.Stdout, id)
	}
	return nil
}

func (s *reporter) listed(op, group string, groups bool) (ids []string, err error) {
	switch {
	case groups:
		return s.ledger.Groups()
	case group != "":
		g, err := s.ledger.ReadGroup(group)
		for _, s := range g.Registry.Services {
			ids = append(ids, s.ID)
		}
		return ids, cli.Named("status", group, "", err)
	case op != "":
		o, _, err := s.ledger.ReadOperation(op)
		for _, f := range o.Stack {
			ids = append(ids, f.CallID)
		}
		return ids, cli.Named("status", op, "", err)
	}

	return s.ledger.IDs()
}
