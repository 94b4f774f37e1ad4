package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses a time span: bare seconds, or Go's syntax preceded by weeks and days, such
// as 1d12h. It returns an error if the span is shorter than least.
func ParseDuration(s string, least time.Duration) (time.Duration, error) {
	unit := ""
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		unit = "s"
	}

	d, err := parseSpan(s + unit)
	if err != nil || d < least {
		return 0, fmt.Errorf("want seconds, or a number with a unit like 500ms, 1m30s or 1d, of "+
			"at least %v", least)
	}
	return d, nil
}

var errSpan = errors.New("not a time span")

// parseSpan parses a time span with weeks and days, which package time does not know.
func parseSpan(s string) (time.Duration, error) {
	total, rest := time.Duration(0), s
	for _, unit := range []struct {
		name  string
		hours time.Duration
	}{{"w", 7 * 24}, {"d", 24}} {
		number, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}

		hours, err := time.ParseDuration(number + "h")
		if err != nil || strings.Trim(number, "0123456789.") != "" ||
			hours > (math.MaxInt64-total)/unit.hours {
			return 0, errSpan
		}
		total, rest = total+hours*unit.hours, after
	}

	switch rest {
	case s:
		return time.ParseDuration(s)
	case "":
		return total, nil
	}

	others, err := time.ParseDuration(rest)
	if err != nil || strings.ContainsAny(rest, "+-") || others > math.MaxInt64-total {
		return 0, errSpan
	}
	return total + others, nil
}

// Brief returns d in its largest units, without zeros: 2h, 1h30m, 1d12h. It is cut to whole
// seconds, below a minute to milliseconds.
func Brief(d time.Duration) string {
	const day = 24 * time.Hour
	if d = d.Truncate(time.Millisecond); d >= time.Minute {
		d = d.Truncate(time.Second)
	}

	text := ""
	if d >= day {
		text = fmt.Sprintf("%dd", d/day)
		if d %= day; d == 0 {
			return text
		}
	}

	rest := d.String()
	if minutes, ok := strings.CutSuffix(rest, "m0s"); ok {
		rest = minutes + "m"
	}
	if hours, ok := strings.CutSuffix(rest, "h0m"); ok {
		rest = hours + "h"
	}

	return text + rest
}
