package wire

import (
	"fmt"
	"math"
	"time"
)

const (
	timeLayout  = "2006-01-02T15:04:05.000Z"
	timeExample = "2026-01-20T10:30:00.000Z"
)

// Moment returns t as files have it: in UTC, truncated to milliseconds, without a monotonic
// reading.
func Moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Longest is the longest duration that a file can hold, in whole milliseconds. No age is longer
// (spec §4.2).
const Longest = math.MaxInt64 / time.Millisecond * time.Millisecond

// FormatTime returns t as it is written.
func FormatTime(t time.Time) string { return Moment(t).Format(timeLayout) }

// Milliseconds returns a duration of n milliseconds, limited to Longest in both directions.
func Milliseconds(n int64) time.Duration {
	const most = int64(Longest / time.Millisecond)
	return time.Duration(max(min(n, most), -most)) * time.Millisecond
}

// Span returns the time from from to to, limited to Longest in both directions.
func Span(from, to time.Time) time.Duration { return max(min(to.Sub(from), Longest), -Longest) }

// Later returns the time d after t, or the last time that a file can hold.
func Later(t time.Time, d time.Duration) time.Time {
	if t = t.Add(d); t.Year() > 9999 {
		t = time.Date(9999, time.December, 31, 23, 59, 59, 999e6, time.UTC)
	}
	return t
}

// ParseTime parses a time in RFC 3339 with an offset or Z, in 1970 or later (spec §1.2). It returns
// it in UTC, truncated to milliseconds. It is stricter than package time, which accepts a comma as
// the decimal point, an hour of one digit, and an offset of a day.
func ParseTime(s string) (time.Time, error) {
	if t, ok := parseTime(s); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("a time like %s is expected, with an offset or Z, not %.40q",
		timeExample, s)
}

func parseTime(s string) (t time.Time, ok bool) {
	const shape = "0000-00-00T00:00:00"
	if len(s) <= len(shape) {
		return t, false
	}

	for i := range len(shape) {
		if shape[i] == '0' && !isDigit(s[i]) || shape[i] != '0' && s[i] != shape[i] {
			return t, false
		}
	}

	year, month, day := number(s[0:4]), number(s[5:7]), number(s[8:10])
	hour, minute, second := number(s[11:13]), number(s[14:16]), number(s[17:19])
	millisecond, zone := fraction(s[len(shape):])
	offset, ok := parseOffset(zone)
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}

	t = time.Date(year, time.Month(month), day, hour, minute, second, millisecond*1e6, time.UTC)
	if t.Day() != day || int(t.Month()) != month {
		return t, false // Date has normalised what does not exist
	}

	t = t.Add(-offset)

	return t, t.Year() >= 1970 && t.Year() <= 9999
}

// fraction cuts a fraction of a second off the beginning of s, and returns its milliseconds and the
// rest. It leaves a point without digits, which is then refused.
func fraction(s string) (millisecond int, rest string) {
	if len(s) < 2 || s[0] != '.' || !isDigit(s[1]) {
		return 0, s
	}

	scale := 100
	for s = s[1:]; s != "" && isDigit(s[0]); s = s[1:] {
		millisecond += scale * int(s[0]-'0')
		scale /= 10
	}
	return millisecond, s
}

func parseOffset(s string) (time.Duration, bool) {
	if s == "Z" {
		return 0, true
	}

	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' ||
		!isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[4]) || !isDigit(s[5]) {
		return 0, false
	}

	hours, minutes := number(s[1:3]), number(s[4:6])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, hours <= 23 && minutes <= 59
}

// number returns the value of digits.
func number(digits string) (n int) {
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}
