package register

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// health are the flags for how passes check that COMMAND works (spec §26.5).
type health struct {
	Health         cli.Word   `placeholder:"CMD"`
	NoHealth       bool       `help:"do not check whether COMMAND works"`
	HealthEvery    *cli.Pause `placeholder:"D"`
	HealthTimeout  *cli.Pause `placeholder:"D" help:"how long --health may take (5s)"`
	HealthFailures *cli.Count `placeholder:"N"`
	HealthStart    *cli.Pause `placeholder:"D"`
}

// check returns an error for flags that do not go together.
func (c *health) check() error {
	if c.NoHealth && c.Health != "" {
		return cli.Usagef("--health does not go with --no-health: choose one")
	}
	if c.HealthFailures != nil && *c.HealthFailures < 1 {
		return cli.Usagef("--health-failures: want 1 or more")
	}
	for _, d := range []struct {
		flag string
		is   *cli.Pause
	}{{"every", c.HealthEvery}, {"timeout", c.HealthTimeout}, {"start", c.HealthStart}} {
		if d.is != nil && *d.is <= 0 {
			return cli.Usagef("--health-%s: want more than 0", d.flag)
		}
	}
	return nil
}

// copy copies the given flags to s.
func (c *health) copy(s *group.StartInfo) {
	if c.Health != "" {
		s.Health.Command = []string{"sh", "-c", string(c.Health)}
	}
	if c.NoHealth {
		s.Health.Command = nil
	}
	for _, d := range []struct {
		given *cli.Pause
		to    *time.Duration
	}{{c.HealthEvery, &s.Health.Every}, {c.HealthTimeout, &s.Health.Timeout},
		{c.HealthStart, &s.Health.Start}} {
		if d.given != nil {
			*d.to = time.Duration(*d.given)
		}
	}
	if c.HealthFailures != nil {
		s.Health.Failures = int(*c.HealthFailures)
	}
}
