package main

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// checkChild refuses flags that say how a command is executed, or by itself: a group has no process.
func (c *register) checkChild() error {
	if c.ChildGroup == "" {
		return nil
	}
	c.Request = true // it cannot register itself
	if len(c.Command) > 0 || c.Remove || c.PID != 0 || c.Given("env", "dir", "readiness", "heartbeat",
		"kill-timeout", "exit-status", "log-max", "log-keep", "soft-timeout", "timeout", "stuck",
		"soft-signal", "budget", "budget-action", "preflight", "preflight-timeout",
		"finish", "finish-timeout") {
		return cli.Usagef("--child-group goes neither with a COMMAND nor with flags about a process: "+
			"register the services of that group with --group %s", c.ChildGroup)
	}
	return nil
}

// checkLinks refuses a group that is already a service of another group, or that would be below
// itself. Two registrations at the same moment may miss each other: then passes begin such a group
// for one parent only, and visit each group once.
func checkLinks(l *fileops.Ledger, groupID string, services []group.Declaration) error {
	var links []group.Link
	for _, d := range services {
		if d.StartInfo != nil && d.StartInfo.Group != "" {
			links = append(links, group.Link{Parent: groupID, Service: d.ID, Child: d.StartInfo.Group})
		}
	}
	if links == nil {
		return nil
	}

	ids, err := l.Groups()
	if err != nil {
		return err
	}
	var all []group.Link
	for _, id := range ids {
		g, err := l.ReadGroup(id)
		if err != nil {
			return cli.Named("read", id, "", err)
		}
		all = append(all, g.Links()...)
	}
	for _, link := range links {
		if err := group.CheckLink(all, link); err != nil {
			return fmt.Errorf("group %q: %w", link.Child, err)
		}
		all = append(all, link)
	}
	return nil
}
