package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/inspect"
	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/wire"
)

// rules returns the rules.
func (c *checker) rules() (check.Rules, error) {
	text, err := c.Rules.Read(most)
	if err != nil {
		return check.Rules{}, err
	}
	rules, err := check.Decode(text)
	return rules, c.about(err)
}

// about returns err with the name of the rules if it is about them.
func (c *checker) about(err error) error {
	if errors.Is(err, wire.ErrCorrupt) {
		return fmt.Errorf("%s: %w", c.Rules.Name(), err)
	}
	return err
}

// start returns what --since has, or nil.
func (c *checker) start() (*check.Snapshot, error) {
	if c.Since == "" {
		return nil, nil
	}
	text, err := c.Since.Read(most)
	if err != nil {
		return nil, err
	}
	s, err := check.DecodeSnapshot(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Since.Name(), err)
	}
	return &s, nil
}

func (c *checker) options(env *cli.Env) inspect.Options {
	o := inspect.Options{Now: env.Observer()().Now, Limit: time.Duration(c.Timeout),
		Output: env.Stderr, DryRun: env.DryRun()}
	if c.Given("exit") {
		status := int64(c.Exit)
		o.Exit = &status
	}
	return o
}

// most is the size of the largest file of rules, and of the largest snapshot: there is room for a
// long path of each file that a check may look at.
const most = 16 << 20
