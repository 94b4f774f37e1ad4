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
		carried, certain := carries(c.Process.Pid, []string{roleVariable + "=echo"}, time.Now().Add(time.Hour))
		if carried || !certain {
			t.Errorf("it carries what it was given: %t, for certain: %t", carried, certain)
		}
	}
	c.becomeZombie(t)
	mustNotCarry()
	c.Wait()
	mustNotCarry()
}
