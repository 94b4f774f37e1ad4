package main

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// checkOutput returns an error if the flags for the output do not go with the others.
func (c *status) checkOutput() error {
	var given []string
	for _, f := range []struct {
		name  string
		given bool
	}{{"--watch", c.Watch}, {"--html", c.HTML != ""}, {"--openmetrics", c.Metrics != ""}} {
		if f.given {
			given = append(given, f.name)
		}
	}
	if len(given) > 1 {
		return cli.Usagef("%s exclude each other", strings.Join(given, " and "))
	}
	if c.Format != "" && (len(given) > 0 || c.JSON || c.Check != "" || c.Log != "") {
		return cli.Usagef("--format goes with none of --json, --watch, --html, --openmetrics, " +
			"--check and --log")
	}
	if len(given) == 0 {
		return nil
	}

	name := given[0]
	switch {
	case c.JSON:
		return cli.Usagef("%s does not go with --json; dpl-watch prints what happens as JSON", name)
	case c.Check != "" || c.Why != "" || c.Groups || c.Queues || c.IDs:
		return cli.Usagef("%s goes with none of --check, --why, --groups, --queues and --ids", name)
	case !c.Watch && (c.Service != "" || c.Supervisor != ""):
		return cli.Usagef("%s shows all services and calls; "+
			"it does not go with --service or --supervisor", name)
	}

	return nil
}
