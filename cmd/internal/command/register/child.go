package register

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// checkChild refuses flags that say how a command is executed, or by itself: a group has no
// process.
func (c *register) checkChild() error {
	if c.ChildGroup == "" {
		return nil
	}
	c.Request = true // it cannot register itself
	if len(c.Command) > 0 || c.Remove || c.PID != 0 || c.Given("env", "env-file", "dir", "readiness", "heartbeat",
		"kill-timeout", "exit-status", "log-max", "log-every", "log-keep", "log-compress",
		"soft-timeout", "timeout", "stuck",
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
	if !slices.ContainsFunc(services, func(d group.Declaration) bool {
		return d.StartInfo != nil && d.StartInfo.Group != ""
	}) {
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
	return group.CheckLinks(all, groupID, services)
}
