package register

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// clocks are the flags that limit how long COMMAND may run (spec §26).
type clocks struct {
	SoftTimeout *cli.Pause `placeholder:"D"`
	Timeout     *cli.Pause `placeholder:"D"`
	SoftSignal  string     `default:"" enum:"HUP,INT,QUIT,ALRM,none," placeholder:"SIG"`
	Stuck       *softHard  `placeholder:"SOFT,HARD"`
}

// check returns an error for a checkpoint that would be asked for too late.
func (c *clocks) check() error {
	if c.SoftTimeout != nil && c.Timeout != nil && *c.Timeout > 0 && *c.SoftTimeout >= *c.Timeout {
		return cli.Usagef("--soft-timeout: want less than --timeout")
	}
	return nil
}

// copy copies the given clocks to s.
func (c *clocks) copy(s *group.StartInfo) {
	if c.SoftTimeout != nil {
		s.RuntimeSoft = time.Duration(*c.SoftTimeout)
	}
	if c.Timeout != nil {
		s.RuntimeMax = time.Duration(*c.Timeout)
	}
	if c.Stuck != nil {
		s.ProgressSoft, s.ProgressMax = c.Stuck.soft, c.Stuck.hard
	}
	switch c.SoftSignal {
	case "":
	case "none":
		s.SoftSignal = ""
	default:
		s.SoftSignal = group.SignalName(c.SoftSignal)
	}
}

// A softHard is two time spans separated by a comma, SOFT,HARD. 0 stands for none.
type softHard struct{ soft, hard time.Duration }

// UnmarshalText parses text.
func (d *softHard) UnmarshalText(text []byte) (err error) {
	soft, hard, ok := strings.Cut(string(text), ",")
	if !ok {
		return cli.Usagef("want two time spans, SOFT,HARD, such as 2m,4m")
	}
	if d.soft, err = cli.ParseDuration(strings.TrimSpace(soft), 0); err != nil {
		return err
	}
	if d.hard, err = cli.ParseDuration(strings.TrimSpace(hard), 0); err != nil {
		return err
	}
	if d.hard > 0 && d.soft >= d.hard {
		return cli.Usagef("want SOFT to be less than HARD")
	}
	return nil
}
