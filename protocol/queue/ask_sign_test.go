package queue

import (
	"testing"
	"time"
)

// A signature is made after the question was asked, and before it was decided.
func TestSignatureFits(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)
	decided := asked.Add(5 * time.Minute)
	for after, want := range map[time.Duration]bool{
		-time.Hour: false, -time.Minute - 1: false, -time.Minute: true, 0: true, 5 * time.Minute: true,
		6 * time.Minute: true, 6*time.Minute + 1: false, 24 * time.Hour: false,
	} {
		if got := (Signature{At: asked.Add(after)}).Fits(asked, decided); got != want {
			t.Errorf("%v after it was asked: %t", after, got)
		}
	}
}
