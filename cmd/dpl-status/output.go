package main

import "github.com/dpl-project/dpl/cmd/internal/cli"

// checkOutput returns an error if the flags for the output do not go with the others.
func (c *status) checkOutput() error {
	name := ""
	switch {
	case c.Watch && c.HTML != "":
		return cli.Usagef("--watch and --html exclude each other")
	case c.Watch:
		name = "--watch"
	case c.HTML != "":
		name = "--html"
	default:
		return nil
	}

	switch {
	case c.JSON:
		return cli.Usagef("%s does not go with --json; dpl-watch prints what happens as JSON", name)
	case c.Check != "" || c.Why != "" || c.Groups || c.Queues || c.IDs:
		return cli.Usagef("%s goes with none of --check, --why, --groups, --queues and --ids", name)
	case c.HTML != "" && (c.Service != "" || c.Supervisor != ""):
		return cli.Usagef("--html shows all services and calls; " +
			"it does not go with --service or --supervisor")
	}

	return nil
}
