package process

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
)

func monotonic(t testing.TB) int64 {
	t.Helper()
	ms, ok := Monotonic()
	if !ok {
		t.Skip("this machine's tests run in a time namespace")
	}
	return ms
}

func TestMonotonicNeverGoesBack(t *testing.T) {
	t.Parallel()
	outer := time.Now()
	first := monotonic(t)
	inner := time.Now()
	last := first

	for time.Since(inner) < 20*time.Millisecond {
		now := monotonic(t)
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}

	atLeast := time.Since(inner).Milliseconds() - 1
	d := monotonic(t) - first
	atMost := time.Since(outer).Milliseconds() + 1
	if d < atLeast || d > atMost {
		t.Errorf("it went on by %d in %d to %d ms", d, atLeast, atMost)
	}
}

// It counts from boot, at most: time suspended is in /proc/uptime only.
func TestMonotonicCountsFromBoot(t *testing.T) {
	t.Parallel()
	ms := monotonic(t)
	content, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}

	var seconds float64
	if _, err := fmt.Sscan(string(content), &seconds); err != nil {
		t.Fatal(err)
	}
	if up := int64(seconds*1000) + 10; ms <= 0 || ms > up { // it has hundredths
		t.Errorf("%d ms, %d ms after boot", ms, up)
	}
}

// The reading of another process lies between our readings before and after.
func TestMonotonicInTwoProcesses(t *testing.T) {
	t.Parallel()
	before := monotonic(t)
	c := proctest.Start(t, "report")
	after := monotonic(t)
	var theirs report
	if err := json.Unmarshal([]byte(c.First), &theirs); err != nil {
		t.Fatal(c.First)
	}
	if !theirs.OK || theirs.MonotonicMS < before || theirs.MonotonicMS > after {
		t.Errorf("they read %d, %t, we %d before and %d after", theirs.MonotonicMS, theirs.OK,
			before, after)
	}
}

func BenchmarkMonotonic(b *testing.B) {
	for b.Loop() {
		Monotonic()
	}
}
