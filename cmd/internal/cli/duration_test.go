package cli

import (
	"math"
	"testing"
	"time"
)

// Weeks and days stand before what package time knows, once each and in that order.
func TestDays(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"1d": day, "0d": 0, "1.5d": 36 * time.Hour, ".5d": 12 * time.Hour, "2w": 14 * day,
		"1w2d3h4m": 9*day + 3*time.Hour + 4*time.Minute,
		"1d1ms":    day + time.Millisecond, "106751d23h": 106751*day + 23*time.Hour,
		"15250w": 106750 * day,
	} {
		if got, err := ParseDuration(s, 0); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", s, got, err, want)
		}
	}

	for _, s := range []string{
		"d", "w", "-1d", "+1d", "1d2", "1d-1h", "1d+1h", "1h1d", "1d1w", "1d2d", "1e3d", "Infd",
		"0x1d", "1 d", "1d ", "1D", "106752d", "106751d24h",
		"15251w", "15250w2d", "1h2d", "9223372036854775807d", "1..d", "1_0d",
	} {
		if got, err := ParseDuration(s, 0); err == nil {
			t.Errorf("%q: got %v", s, got)
		}
	}

	if _, err := ParseDuration("1d", 2*day); err == nil {
		t.Error("one day is at least two")
	}
}

// Whatever the duration, it is not shortened, and not lengthened by more than two fifteenths.
func TestJittered(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 7, 8, 1500 * time.Millisecond, 1 << 62, 1<<62 + 1,
		math.MaxInt64 - 1, math.MaxInt64} {
		for range 100 {
			if got := Jittered(d); got < d || got-d > d/15*2+2 {
				t.Fatalf("%d: got %d", d, got)
			}
		}
	}
}

func TestBrief(t *testing.T) {
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {200 * time.Millisecond, "200ms"}, {1500 * time.Millisecond, "1.5s"},
		{30 * time.Second, "30s"},
		{90 * time.Second, "1m30s"}, {30 * minute, "30m"}, {hour, "1h"}, {90 * minute, "1h30m"},
		{2 * hour, "2h"},
		{10 * hour, "10h"}, {day, "1d"}, {36 * hour, "1d12h"}, {40 * day, "40d"},
		{time.Minute + 1234*time.Millisecond, "1m1s"}, {time.Second + 500, "1s"},
	} {
		if got := Brief(c.d); got != c.want {
			t.Errorf("%d: %q, want %q", c.d, got, c.want)
		}
	}
}
