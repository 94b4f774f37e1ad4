package main

import "github.com/dpl-project/dpl/cmd/internal/cli"

// checkOutput returns an error if the flags for the output do not go with the others.
func (c *status) checkOutput(env *cli.Env) error {
	name := ""
	switch {
	case c.watch && c.html != "":
		return cli.Usagef("--watch and --html exclude each other")
	case c.watch:
		name = "--watch"
	case c.html != "":
		name = "--html"
	default:
		return nil
	}
	switch {
	case env.JSON():
		return cli.Usagef("%s does not go with --json; dpl-watch prints what happens as JSON", name)
	case c.predicate != "" || c.call != "" || c.groups || c.ids:
		return cli.Usagef("%s goes with none of --check, --why, --groups and --ids", name)
	}
	return nil
}
