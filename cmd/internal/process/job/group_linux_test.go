package job

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// The leader dies of TERM, a grandchild only of KILL.
func TestJobKill(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		j, dir := start(`(trap "" TERM; exec sleep 1000) & echo $! >pid; wait`)
		grandchild := pids(t, filepath.Join(dir, "pid"))[0]
		poll.Until(t, "sleep",
			func() bool { return strings.Contains(proctest.StatLine(grandchild), "(sleep)") })
		want := []int{j.PID(), grandchild}
		slices.Sort(want)
		if got := j.Left(); !slices.Equal(got, want) {
			t.Errorf("left %v, want %v", got, want)
		}
		if err := j.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if sig := j.End().Signal; sig != syscall.SIGTERM {
			t.Errorf("it died of %v", sig)
		}
		if got, want := j.Left(), []int{grandchild}; !slices.Equal(got, want) {
			t.Errorf("left %v, want %v", got, want)
		}
		if closed(j.Empty()) {
			t.Error("Empty is closed")
		}
		if err := j.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}

		mustClose(t, "Empty", j.Empty())
	})
}

func TestJobSignalsStopped(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			j, dir := start(`sh -c 'kill -STOP $$; wait' & echo $! >pid; kill -STOP $$; wait`)
			grandchild := pids(t, filepath.Join(dir, "pid"))[0]
			poll.Until(t, "both are stopped", func() bool {
				return proctest.InState(j.PID(), "T") &&
					proctest.InState(grandchild, "T")
			})
			if closed(j.Ended()) {
				t.Error("Ended is closed")
			}
			if err := j.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if got := j.End().Signal; got != sig {
				t.Errorf("it died of %v, want %v", got, sig)
			}

			mustClose(t, "Empty", j.Empty())
		}
	})
}

// A stop without a terminal changes nothing, and the job goes on with SIGCONT.
//
// Not parallel: a job that is closed has this process ignore SIGTSTP for a moment, and a job that
// begins then.
func TestJobStopped(t *testing.T) {
	for _, stop := range []string{"STOP", "TSTP", "TTIN"} {
		j, _ := startJob(t, "kill -"+stop+" $$; exit 4")
		poll.Until(t, "it is stopped", func() bool { return proctest.InState(j.PID(), "T") })
		if err := j.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if got := j.End(); got.Code != 4 || got.Signal != 0 {
			t.Errorf("%s: got %+v, want code 4", stop, got)
		}
	}
}

func TestJobLeaderEndsFirst(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		j, dir := start(`sleep 1000 & echo $! >pid; exit 3`)
		if code := j.End().Code; code != 3 {
			t.Errorf("exit code %d, want 3", code)
		}

		want := pids(t, filepath.Join(dir, "pid"))
		if got := j.Left(); !slices.Equal(got, want) {
			t.Errorf("left %v, want %v", got, want)
		}
		if closed(j.Empty()) {
			t.Error("Empty is closed")
		}
		if j.group.handle < 0 && !proctest.InState(j.PID(), "Z") { // the number is all that there is
			t.Error("the leader has been waited for")
		}
		if j.group.handle >= 0 {
			proctest.MustBeReaped(t, j.PID())
		}
		if err := j.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}

		mustClose(t, "Empty", j.Empty())
		proctest.MustBeReaped(t, j.PID())
	})
}

// A process that leaves the group, even late, no longer belongs to the job.
func TestJobMemberLeaves(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		j, dir := start(`mkfifo fifo; sh -c 'read line <fifo; exec setsid sleep 1000' & echo $! >pid; exit 0`)
		grandchild := pids(t, filepath.Join(dir, "pid"))[0]
		p := identify(t, grandchild)
		t.Cleanup(func() { process.SignalProcess(p, syscall.SIGKILL) })
		mustClose(t, "Ended", j.Ended())
		if closed(j.Empty()) {
			t.Error("Empty is closed")
		}
		if err := os.WriteFile(filepath.Join(dir, "fifo"), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}

		mustClose(t, "Empty", j.Empty())
		if err := j.Signal(syscall.SIGKILL); err != process.ErrNoProcess {
			t.Errorf("Signal: %v, want ErrNoProcess", err)
		}
		if process.Exited(p.PID, p.StartTicks) {
			t.Error("it has ended")
		}
	})
}

func TestJobZombie(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}

		j, dir := start(proctest.RoleVariable + `=keeper ` + self +
			` pids & until [ -s pids ]; do sleep 0.01; done; exit 0`)
		found := pids(t, filepath.Join(dir, "pids"))
		p := identify(t, found[0])
		t.Cleanup(func() { process.SignalProcess(p, syscall.SIGKILL) })
		mustClose(t, "Empty", j.Empty())
		if err := j.Signal(syscall.SIGKILL); err != process.ErrNoProcess {
			t.Errorf("Signal: %v, want ErrNoProcess", err)
		}
		if group, err := unix.Getpgid(found[1]); group != j.PID() ||
			!proctest.InState(found[1], "Z") {
			t.Errorf("process %d is no zombie in group %d: %v", found[1], j.PID(), err)
		}
	})
}

// A group of zombies lives no more, although signals still reach it; one with another process does.
func TestGroupLives(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{"exit 3": false, "sleep 1000 & exit 3": true} {
		leader := exec.Command("sh", "-c", script)
		leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := leader.Start(); err != nil {
			t.Fatal(err)
		}
		g := newGroup(leader.Process.Pid)
		if g.handle < 0 {
			t.Skip("the kernel has no handles of groups (before Linux 6.9)")
		}
		if err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}

		if err := g.send(0); err != nil {
			t.Errorf("%s: a signal to the group: %v", script, err)
		}
		if got := g.lives(); got != want {
			t.Errorf("%s: it lives: %v, want %v", script, got, want)
		}
		g.send(syscall.SIGKILL)
		leader.Wait()
		if !g.lives() {
			t.Errorf("%s: once its leader has been waited for, it cannot tell", script)
		}
		g.close()
	}
}

// playKeeper has a zombie in the group that it leaves, and says its pid.
func playKeeper() {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		proctest.Serve(err.Error())
	}

	unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	unix.Setsid()
	os.WriteFile(os.Args[1], fmt.Appendln(nil, os.Getpid(), cmd.Process.Pid), 0o600)
	for {
		unix.Pause()
	}
}
