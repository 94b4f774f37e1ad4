package status

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// usualRefresh is how often a browser reads a page again that is written again.
const usualRefresh = 5 * time.Second

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
	if c.Watch && c.HTML != "" {
		given = given[1:] // the page is written again and again
	}
	if len(given) > 1 {
		return cli.Usagef("%s exclude each other", strings.Join(given, " and "))
	}
	if c.Format != "" && (len(given) > 0 || c.JSON || c.Check != "" || c.Log != "") {
		return cli.Usagef("--format goes with none of --json, --watch, --html, --openmetrics, " +
			"--check and --log")
	}
	if err := c.checkRefresh(); err != nil || len(given) == 0 {
		return err
	}

	name := given[0]
	switch {
	case c.JSON:
		return cli.Usagef("%s does not go with --json; dpl-watch prints what happens as JSON", name)
	case c.Check != "" || c.Why != "" || c.Groups || c.Queues || c.IDs:
		return cli.Usagef("%s goes with none of --check, --why, --groups, --queues and --ids", name)
	case name != "--watch" && (c.Service != "" || c.Supervisor != ""):
		return cli.Usagef("%s shows all services and calls; "+
			"it does not go with --service or --supervisor", name)
	}

	return nil
}

// checkRefresh returns an error if a page cannot be read, or written, again and again.
func (c *status) checkRefresh() error {
	switch {
	case c.Given("refresh") && c.HTML == "":
		return cli.Usagef("--refresh goes with --html")
	case c.Given("refresh") && time.Duration(c.Refresh) < time.Second:
		return cli.Usagef("--refresh: want at least 1s: browsers count seconds")
	case c.Watch && c.HTML == "-":
		return cli.Usagef("--watch writes a file again and again: give --html a FILE")
	}
	return nil
}
