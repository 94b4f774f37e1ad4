// Package poll waits, in tests, for what another process or goroutine does in its own time.
package poll

import (
	"testing"
	"time"
)

// Patience is the limit for what happens at once unless it never does, also on a machine that has
// other work.
const Patience = time.Minute

// The pause between two looks grows with the time that has passed: early results are seen at once,
// and long waits are not disturbed by expensive looks, such as a walk through /proc.
const (
	shortestPause = time.Millisecond
	longestPause  = 50 * time.Millisecond
	pausePart     = 20
)

// Until returns once is reports true. After Patience it fails the test with what, which says what
// did not happen.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()

	if !Within(Patience, is) {
		t.Fatalf("after %v not yet: %s", Patience, what)
	}
}

// Within returns true once is reports true, and false if it has not done so within limit. It looks
// at least once, and once more when the limit has passed.
func Within(limit time.Duration, is func() bool) bool {
	begin := time.Now()
	for {
		passed := time.Since(begin)
		if is() {
			return true
		}
		if passed > limit {
			return false
		}

		time.Sleep(min(max(passed/pausePart, shortestPause), longestPause))
	}
}
