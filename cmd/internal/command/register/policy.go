package register

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// attempts is a number of restarts, or group.Unlimited.
type attempts int

// UnmarshalText parses text.
func (a *attempts) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < policy.Unlimited {
		return cli.Usagef("want a number, or -1 for no limit, not %q", text)
	}
	*a = attempts(n)
	return nil
}

// killTimeout is the time from TERM to KILL.
type killTimeout time.Duration

// UnmarshalText parses text.
func (k *killTimeout) UnmarshalText(text []byte) error {
	if string(text) == "infinity" {
		*k = killTimeout(wire.Longest)
		return nil
	}
	d, err := cli.ParseDuration(string(text), 0)
	*k = killTimeout(d)
	return err
}

// exitStatuses are the values of --exit-status.
type exitStatuses []exitStatus

// An exitStatus has the ends of one class.
type exitStatus struct {
	class policy.Class
	ends  []string
}

// UnmarshalText parses text, one more CLASS=LIST.
func (x *exitStatuses) UnmarshalText(text []byte) error {
	class, list, ok := strings.Cut(string(text), "=")
	if !ok || new(policy.ExitStatus).List(policy.Class(class)) == nil {
		return cli.Usagef("want CLASS=LIST, with success, tempfail, failure, persistent or " +
			"terminal as CLASS")
	}

	given := exitStatus{class: policy.Class(class)}
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" && list == "" {
			break // an empty list removes what is set
		}
		word = portable(word)
		if err := policy.CheckExitStatus(word); err != nil {
			return cli.Usagef("%q: %v", word, err)
		}
		given.ends = append(given.ends, word)
	}

	*x = append(*x, given)
	return nil
}

// portable returns the number of the signal in word if its name is one of this system only, as
// SIG7 for SIGBUS: another host may judge the end.
func portable(word string) string {
	if policy.CheckExitStatus(word) == nil || !strings.HasPrefix(word, "SIG") {
		return word
	}
	if sig, err := process.ParseSignal(word); err == nil {
		return policy.SignalWord(int(sig))
	}
	return word
}

// apply replaces the lists of the given classes in to. The same class given twice has all its ends.
func (x exitStatuses) apply(to *policy.ExitStatus) {
	for _, given := range x {
		*to.List(given.class) = nil
	}
	for _, given := range x {
		list := to.List(given.class)
		*list = append(slices.Clip(*list), given.ends...)
	}
}

// delays are time spans separated by commas, or such as grow.
type delays struct {
	list  []time.Duration
	grows policy.Exponential
}

func (d delays) given() bool { return d.list != nil }

// UnmarshalText parses text.
func (d *delays) UnmarshalText(text []byte) error {
	*d = delays{}
	if first, last, ok := strings.Cut(string(text), ".."); ok {
		d.list = policy.DefaultBackoff()
		return d.parseGrowing(first, last)
	}

	for word := range strings.SplitSeq(string(text), ",") {
		delay, err := cli.ParseDuration(strings.TrimSpace(word), 0)
		if err != nil {
			return err
		}
		d.list = append(d.list, delay)
	}

	return nil
}

// parseGrowing parses delays from first, such as 2s or 2s*3, up to last.
func (d *delays) parseGrowing(first, last string) (err error) {
	first, factor, given := strings.Cut(first, "*")
	d.grows.Factor = 2
	if given {
		d.grows.Factor, err = strconv.ParseInt(factor, 10, 64)
		if err != nil || d.grows.Factor < 1 {
			return cli.Usagef("want a whole number from 1 as the factor, not %q", factor)
		}
	}

	if d.grows.Initial, err = cli.ParseDuration(first, time.Millisecond); err != nil {
		return err
	}
	if d.grows.Max, err = cli.ParseDuration(last, time.Millisecond); err != nil {
		return err
	}
	if d.grows.Max < d.grows.Initial {
		return cli.Usagef("the longest delay, %s, is below the first one, %s", last, first)
	}
	return nil
}

// percent is a share of a delay, such as 25%.
type percent int

// UnmarshalText parses text.
func (p *percent) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "%")
	n, err := strconv.ParseUint(number, 10, 8)
	if !ok || err != nil || n > 100 {
		return cli.Usagef("want 0%% to 100%%, not %q", text)
	}
	*p = percent(n)
	return nil
}
