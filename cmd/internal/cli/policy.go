package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// Backoff is a list of durations, separated by commas.
type Backoff []time.Duration

// UnmarshalText sets b to the durations in text.
func (b *Backoff) UnmarshalText(text []byte) error {
	*b = nil
	for word := range strings.SplitSeq(string(text), ",") {
		d, err := ParseDuration(strings.TrimSpace(word), 0)
		if err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		*b = append(*b, d)
	}
	return nil
}

// HaltOn is a rule by which a queue halts itself, or with a minus before it, one to be removed.
type HaltOn struct {
	rule   queue.HaltRule
	remove bool
}

// UnmarshalText sets h to the rule in text.
func (h *HaltOn) UnmarshalText(text []byte) (err error) {
	word, remove := strings.CutPrefix(string(text), "-")
	if word == "" {
		return errors.New("it is empty")
	}
	h.remove = remove
	h.rule, err = queue.ParseHaltRule(word)
	return err
}

// Policy has the flags for the policy of a queue.
type Policy struct {
	Slots            *Count   `placeholder:"N" help:"claims at a time; 0: any number (0)"`
	MaxAttempts      Count    `placeholder:"N" help:"failures after which a task is dead (4)"`
	Backoff          *Backoff `placeholder:"D,..."`
	HaltOn           []HaltOn `placeholder:"RULE"`
	OnDeadDependency string   `default:"" enum:"wait,cancel,"`
	Depth            *Count   `placeholder:"N"`
	AgeAfter         *Pause   `placeholder:"D"`
	RememberFor      *Pause   `placeholder:"D"`
}

// Any reports whether one of the flags of p was given, among those of c.
func (p *Policy) Any(c *Common) bool {
	return c.Given("slots", "max-attempts", "backoff", "halt-on", "on-dead-dependency", "depth",
		"age-after", "remember-for")
}

// Change sets in to what the flags say.
func (p *Policy) Change(to *queue.Policy) {
	if p.Slots != nil {
		to.Slots = int64(*p.Slots)
	}
	if p.MaxAttempts > 0 {
		to.MaxAttempts = int64(p.MaxAttempts)
	}
	if p.Backoff != nil {
		to.Backoff = *p.Backoff
	}

	for _, h := range p.HaltOn {
		i := slices.Index(to.HaltOn, h.rule)
		switch {
		case h.remove && i >= 0:
			to.HaltOn = slices.Delete(to.HaltOn, i, i+1)
		case !h.remove && i < 0:
			to.HaltOn = append(to.HaltOn, h.rule)
		}
	}

	if p.OnDeadDependency != "" {
		to.OnDeadDependency = queue.DependencyPolicy(p.OnDeadDependency)
	}
	if p.Depth != nil {
		to.Depth = int64(*p.Depth)
	}
	if p.AgeAfter != nil {
		to.AgeAfter = time.Duration(*p.AgeAfter)
	}
	if p.RememberFor != nil {
		to.RememberFor = time.Duration(*p.RememberFor)
	}
}
