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

// parseSpan parses a time span with weeks and days, which package time does not know.
func parseSpan(s string) (time.Duration, error) {
	weeks, rest, err := cutDays(s, "w", 7)
	if err != nil {
		return 0, err
	}

	days, rest, err := cutDays(rest, "d", 1)
	if err != nil {
		return 0, err
	}
	if rest == s {
		return time.ParseDuration(s)
	}

	var others time.Duration
	if rest != "" {
		others, err = time.ParseDuration(rest)
	}
	if err != nil || strings.ContainsAny(rest, "+-") || days > math.MaxInt64-weeks ||
		others > math.MaxInt64-weeks-days {
		return 0, errSpan
	}

	return weeks + days + others, nil
}

var errSpan = errors.New("not a time span")

// cutDays cuts a number before unit off s. A unit is of days. Without unit it returns 0 and s.
func cutDays(s, unit string, of int64) (d time.Duration, rest string, err error) {
	number, rest, found := strings.Cut(s, unit)
	if !found {
		return 0, s, nil
	}

	hours, err := time.ParseDuration(number + "h")
	switch factor := time.Duration(24 * of); {
	case err != nil || strings.Trim(number, "0123456789.") != "" || hours > math.MaxInt64/factor:
		return 0, "", errSpan
	default:
		return hours * factor, rest, nil
	}
}
