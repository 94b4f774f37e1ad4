package process

import (
	"testing"
	"time"
)

// One that has ended is not asked until the time is over.
func TestCarriesEnded(t *testing.T) {
	t.Parallel()
	c := start(t, "echo").mustBeReady(t)
	mustNotCarry := func() {
		t.Helper()
		if carries(c.Process.Pid, []string{roleVariable + "=echo"}, time.Now().Add(time.Hour)) {
			t.Error("it carries what it was given")
		}
	}
	c.becomeZombie(t)
	mustNotCarry()
	c.Wait()
	mustNotCarry()
}
