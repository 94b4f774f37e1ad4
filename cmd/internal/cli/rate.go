package cli

import (
	"strconv"
	"strings"
	"time"
)

// A Rate is a number of events in a time, such as 3/5m.
type Rate struct {
	Most   int
	Period time.Duration // 0: there is no limit
}

// UnmarshalText parses text. 0/0 is no limit.
func (r *Rate) UnmarshalText(text []byte) error {
	*r = Rate{}
	if string(text) == "0/0" {
		return nil
	}

	number, period, ok := strings.Cut(string(text), "/")
	n, err := strconv.ParseUint(number, 10, 31)
	if !ok || err != nil {
		return Usagef("want N/D, such as 3/5m, not %q", text)
	}

	r.Most = int(n)
	r.Period, err = ParseDuration(period, time.Millisecond)
	return err
}
