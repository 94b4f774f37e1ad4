// Package strict is for tests that leave something out where the machine lacks what it takes.
package strict

import (
	"os"
	"testing"
)

// Skip skips the test, and says why. With STRICT in the environment, which leaves nothing out, it fails instead.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("STRICT") != "" {
		t.Fatalf("%s, and STRICT leaves nothing out", why)
	}
	t.Skip(why)
}

// Root skips the test unless root runs it.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, "needs root")
	}
}
