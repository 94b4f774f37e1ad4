// Package strict is for tests that leave something out where the machine lacks what it takes.
package strict

import (
	"os"
	"os/exec"
	"testing"

	"github.com/dpl-project/dpl/testscripts/programs"
)

// Skip skips the test with a reason. With STRICT in the environment, which allows no skips, it
// fails the test instead.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("STRICT") != "" {
		t.Fatalf("%s, and STRICT leaves nothing out", why)
	}
	t.Skip(why)
}

// Program returns the path of a program, and skips the test where it is missing.
func Program(t testing.TB, name string) string {
	t.Helper()

	path, err := exec.LookPath(name)
	if err != nil && programs.There(name) {
		t.Fatalf("%s is not declared: name it in TestMain, with programs.Run", name)
	}
	if err != nil {
		Skip(t, "needs "+name)
	}
	return path
}

// Root skips the test unless root runs it.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, "needs root")
	}
}
