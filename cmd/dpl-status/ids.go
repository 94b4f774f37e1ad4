package main

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// ids prints what there is by its ids alone, in the order in which a table would show it: the groups, the supervisors of
// group, the calls of op, root first, or the operations that are not archived. Of the latter and the groups it reads no file.
func (s *reporter) ids(op, group string, groups bool) error {
	ids, err := s.listed(op, group, groups)
	if err != nil {
		return err
	}
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{Name: "ids", Value: ids}})
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
		for i := range g.Registry.Services {
			ids = append(ids, g.Registry.Services[i].ID)
		}
		return ids, cli.Named("status", group, "", err)
	case op != "":
		o, _, err := s.ledger.ReadOperation(op)
		for i := range o.Stack {
			ids = append(ids, o.Stack[i].CallID)
		}
		return ids, cli.Named("status", op, "", err)
	}
	return s.ledger.IDs()
}
