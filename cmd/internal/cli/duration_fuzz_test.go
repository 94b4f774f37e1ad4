package cli

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
)

var plainSeconds = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// FuzzParseDuration checks that bare seconds are seconds, that everything else is as in package
// time, and that nothing is below the least.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"0", "1", "1.5", ".5", "5.", "-1", "+2", "1m30s", "500ms", "1h",
		"1e3", "0x10", "1_000", "Inf", "NaN", "", "s", "1 s", "9223372036", "9223372037", "1d", "1w2d3h", "1d-1h", "15250w", "106751d23h47m16s", "106751d24h", "1ns1d", "٣", "0.0000000001"} {
		f.Add(s, int64(time.Millisecond))
		f.Add(s, int64(0))
	}

	f.Fuzz(func(t *testing.T, s string, least int64) {
		if least < 0 {
			return
		}

		got, err := ParseDuration(s, time.Duration(least))
		if err == nil && got < time.Duration(least) {
			t.Errorf("%q: %v is below %v", s, got, time.Duration(least))
		}
		if strings.ContainsAny(s, "wd") {
			return // TestDays has these
		}

		if !plainSeconds.MatchString(s) {
			want, wantErr := time.ParseDuration(s)
			if ok := wantErr == nil && want >= time.Duration(least); ok != (err == nil) || ok &&
				got != want {
				t.Errorf("%q: got %v, %v, want %v, %v", s, got, err, want, wantErr)
			}
			return
		}

		exact, _ := new(big.Rat).SetString(s)
		exact.Mul(exact, big.NewRat(int64(time.Second), 1))
		away := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(int64(got)))
		within := away.Abs(away).Cmp(big.NewRat(2, 1)) <= 0
		inRange := exact.Cmp(new(big.Rat).SetInt64(least+1)) >= 0 &&
			exact.Cmp(new(big.Rat).SetInt64(1<<62)) < 0
		if err == nil && !within || err != nil && inRange {
			t.Errorf("%q, at least %v: got %v, %v", s, time.Duration(least), got, err)
		}
	})
}
