package register

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A spanFlag is the value of --silence or --maintenance: a time span, or 0 for off.
type spanFlag time.Duration

// UnmarshalText parses text.
func (f *spanFlag) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		*f = 0
		return nil
	}
	d, err := cli.ParseDuration(string(text), time.Millisecond)
	if err != nil {
		return cli.Usagef("want a time span such as 2h, or off: %v", err)
	}
	if d > group.LongestSpan {
		return cli.Usagef("want at most %s, or off", cli.Brief(group.LongestSpan))
	}
	*f = spanFlag(d)
	return nil
}

// spans are the flags that are an edit of their own: they register and request nothing.
type spans struct {
	Maintenance *spanFlag `placeholder:"D|off"`
	Silence     *spanFlag `placeholder:"D|off"`
}

// spanGiven returns the flag of spans that is given, or "".
func (c *register) spanGiven() string {
	switch {
	case c.Spans.Maintenance != nil:
		return "maintenance"
	case c.Spans.Silence != nil:
		return "silence"
	}
	return ""
}

// checkSpan returns an error for flags that say how to register.
func (c *register) checkSpan(flag string) error {
	switch {
	case len(c.GivenBesides(flag, "group", "service", "supervisor")) > 0:
		return cli.Usagef("--%s goes with --group and --service only, not with %s", flag, c.beside(flag))
	case len(c.Command) > 0:
		return cli.Usagef("--%s does not go with a COMMAND: it registers nothing", flag)
	case c.Service == "":
		return cli.Usagef("--service is required, or $DPL_SERVICE")
	}
	return nil
}

// setSpan begins or ends what the flag of spans asks for.
func (c *register) setSpan(env *cli.Env) error {
	groupID, service := string(c.Group), string(c.Service)
	by, err := env.ActorID()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}

	edit, err := env.EditGroup(l, groupID, fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			if c.Spans.Maintenance != nil {
				return g.Maintain(service, by, time.Duration(*c.Spans.Maintenance), seen)
			}
			return g.Silence(service, by, time.Duration(*c.Spans.Silence), seen)
		})
	if err == nil && env.JSON() {
		env.PrintJSON(cli.GroupResult(edit, service))
	}
	return cli.Named(c.spanGiven(), groupID, service, err)
}
