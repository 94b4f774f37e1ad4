// Package leak finds resources that a program has not released, in tests on Linux.
package leak

import (
	"os"
	"runtime"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// None fails the test if using something many times leaves goroutines or descriptors behind. It
// counts those of the whole test process, so the test must not run in parallel with others.
func None(t testing.TB, times int, use func()) {
	t.Helper()
	use() // the poller of the runtime opens its own descriptors with the first use

	goroutines, descriptors := held(t)
	for range times {
		use()
	}

	if !poll.Within(poll.Patience, func() bool {
		g, d := held(t)
		return g <= goroutines && d <= descriptors
	}) {
		g, d := held(t)
		t.Fatalf("%d goroutines and %d descriptors, %d and %d before", g, d, goroutines,
			descriptors)
	}
}

func held(t testing.TB) (goroutines, descriptors int) {
	t.Helper()

	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return runtime.NumGoroutine(), len(entries)
}
