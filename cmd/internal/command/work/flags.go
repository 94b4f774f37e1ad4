package work

import (
	"strconv"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/group"
)

type work struct {
	account runner.Account

	cli.Common `embed:""`

	Queue     cli.QueueID `placeholder:"QUEUE"`
	Once      bool
	UntilDone bool
	Follow    bool
	Jobs      cli.Count `default:"1" placeholder:"N"`

	Participant cli.ID    `placeholder:"ID"`
	OnAlert     cli.Word  `placeholder:"CMD"`
	LogMax      *cli.Size `placeholder:"SIZE"`

	runner.Flags `embed:""`

	Command []string `arg:"" name:"COMMAND" optional:"" passthrough:"partial" dashed:"" placeholder:"[-- COMMAND [ARG...]]"`
}

// Leading returns the flag whose value may be the first argument.
func (*work) Leading() string { return "queue" }

// Refuses makes it a cli.Refuser.
func (*work) Refuses() []string { return []string{"json"} }

// check refuses flags that do not go together: not as part of parsing, so that --status-fd tells of
// it.
func (c *work) check() error {
	modes := 0
	for _, given := range []bool{c.Once, c.UntilDone, c.Follow} {
		if given {
			modes++
		}
	}

	switch {
	case c.JSON:
		return cli.Usagef("--json: stdout belongs to COMMAND")
	case c.Queue == "":
		return cli.Usagef("QUEUE is required, also inside an attempt: dpl-work QUEUE")
	case modes > 1:
		return cli.Usagef("--once, --until-done and --follow exclude each other")
	case c.Once && c.Jobs != 1:
		return cli.Usagef("--once does one task: leave out --jobs")
	case c.Jobs < 1:
		return cli.Usagef("--jobs: want at least 1")
	case c.DryRun && !c.Once:
		return cli.Usagef("--dry-run goes with --once")
	case c.logMax() != 0 && c.logMax() < logs.LeastLimit:
		return cli.Usagef("--log-max: want at least 2M, or 0 for no limit")
	case c.StatusFD != nil && !c.Once:
		return cli.Usagef("--status-fd goes with --once")
	}
	return c.Flags.Check()
}

// logMax returns the limit of the logs of attempts; 0: there is none.
func (c *work) logMax() int64 {
	if c.LogMax == nil {
		return group.DefaultLogMax
	}
	return int64(*c.LogMax)
}

// limits returns the flags by which another worker limits its attempts as this one does.
func (c *work) limits() (flags []string) {
	flags = []string{"--kill-after", time.Duration(c.KillAfter).String()}
	if c.Timeout != 0 {
		flags = append(flags, "--timeout", time.Duration(c.Timeout).String())
	}
	if c.SoftTimeout != 0 {
		flags = append(flags, "--soft-timeout", time.Duration(c.SoftTimeout).String())
	}
	if c.Given("soft-signal") {
		flags = append(flags, "--soft-signal", strconv.Itoa(int(c.SoftSignal)))
	}
	if list := c.OK.String(); list != "" {
		flags = append(flags, "--ok", list)
	}
	if c.LogMax != nil {
		flags = append(flags, "--log-max", strconv.FormatInt(c.logMax(), 10))
	}

	limits := c.Limits()
	if limits.Nudge != 0 {
		flags = append(flags, "--nudge-after", limits.Nudge.String(), "--on-nudge="+string(c.OnNudge))
	}
	if limits.Stop != 0 {
		flags = append(flags, "--silence", limits.Stop.String())
	}
	for _, path := range c.Output {
		flags = append(flags, "--output="+string(path))
	}
	return flags
}
