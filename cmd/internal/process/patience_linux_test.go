package process

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What never answers is given up, and killed if it is ours. Everything at once, since each takes 10 seconds.
func TestPatience(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until patience is lost")
	}
	fakeSystemdRun(t, `
		[[ $unit == *silent* ]] || exit 0
		sleep 15 & echo asking >&2; wait # the child keeps stderr`)
	var wait sync.WaitGroup
	wait.Go(func() { mustNotSpawn(t, "dpl-main-absent.service", "no stage has connected") })
	wait.Go(func() { mustNotSpawn(t, "dpl-main-silent.service", "systemd-run: signal: killed: asking") })
	for name, end := range map[string]func(*Gate) error{"Release": (*Gate).Release, "Cancel": (*Gate).Cancel} {
		s := command(t, "echo", "hello")
		g := spawned(t, s)
		if err := SignalProcess(g.Process(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			begin := time.Now()
			if err := end(g); errors.Is(err, ErrSilent) != (name == "Release") || name == "Cancel" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(begin); took < patience || took > patience*3/2 {
				t.Errorf("%s took %v", name, took)
			}
			mustBeReaped(t, g.Process().PID)
			mustHaveRunNothing(t, s)
		})
	}
	wait.Wait()
}
