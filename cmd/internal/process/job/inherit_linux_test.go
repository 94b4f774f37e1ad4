package job

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// playJob is a simple dpl-run: it runs its arguments from the second on, and reports to the
// descriptor in the first.
func playJob() {
	fd, _ := strconv.Atoi(os.Args[1])
	unix.CloseOnExec(fd)
	say := func(words ...any) { unix.Write(fd, fmt.Appendln(nil, words...)) }
	if fd <= 2 {
		unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}

	j, err := Start(os.Args[2], os.Args[2:], os.Environ(), nil, NewKeeper(process.NewStartID(), time.Second))
	if err != nil {
		say("error", err, "foreground", weHaveTerminal())
		return
	}

	say("started", j.PID())
	end := j.End()
	say("ended", end.Code, int(end.Signal))
	<-j.Empty()
	if err := j.Close(); err != nil {
		say(err)
	}

	if j.tty != nil && foreground(j.tty.fd) != 0 {
		say("the terminal is still open")
		os.Exit(1)
	}

	say("closed foreground", weHaveTerminal())
	if end.Interrupted {
		say("interrupted", int(end.Signal))
		PassOn(end.Signal)
		end.Code = 128 + int(end.Signal)
	}

	os.Exit(end.Code)
}

func weHaveTerminal() bool {
	tty := openTerminal()
	return tty != nil && tty.foreground() == tty.own
}

// started returns the pid that follows "started" in a line.
func started(t *testing.T, line string) int {
	t.Helper()
	var pid int
	if _, err := fmt.Sscanf(line, "started %d", &pid); err != nil {
		t.Fatal(line)
	}
	return pid
}

func TestJobDiesWithStarter(t *testing.T) {
	t.Parallel()
	for range 5 {
		c := proctest.Start(t, "job", "1", "/bin/sleep", "1000")
		p := identify(t, started(t, c.First))
		c.Die(t)
		mustEnd(t, p)
	}
}

func TestJobInherits(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	const ignored = 1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGTSTP-1) | 1<<(syscall.SIGTTIN-1)
	block := "env --block-signal=USR2,TERM"
	if exec.Command("sh", "-c", block+" true").Run() != nil {
		t.Log("no signal is blocked")
		block = ""
	}

	cmd := exec.Command("sh", "-c", "trap '' HUP TSTP TTIN; exec "+block+" \"$@\"", "sh", self, "1",
		"/bin/sleep", "1000")
	c := proctest.StartCommand(t, cmd, "job")
	pid := started(t, c.First)
	status := fmt.Sprintf("/proc/%d/status", pid)

	for name, want := range map[string]uint64{"SigIgn:": ignored, "SigBlk:": 0} {
		if got, err := strconv.ParseUint(proctest.Value(t, status, name), 16, 64); err != nil ||
			got&^proctest.OfThreads != want {
			t.Errorf("%s %x, want %x, %v", name, got, want, err)
		}
	}

	want := []string{"0", "1", "2"}
	for _, fd := range proctest.Descriptors(t, os.Getpid()) {
		n, _ := strconv.Atoi(fd)
		if flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); n > 2 && err == nil &&
			flags&unix.FD_CLOEXEC == 0 {
			want = append(want, fd) // so that is what the runner began with
		}
	}

	slices.Sort(want)
	poll.Until(t, fmt.Sprintf("its descriptors are %v", want), func() bool { // the loader of a program opens libraries
		return slices.Equal(proctest.Descriptors(t, pid), want)
	})

	if group, _ := unix.Getpgid(pid); group != pid {
		t.Errorf("it is in group %d", group)
	}
}

// Not parallel: it counts what this process holds.
func TestJobLeaksNothing(t *testing.T) {
	count := func() [2]int {
		return [2]int{runtime.NumGoroutine(), len(proctest.Descriptors(t, os.Getpid()))}
	}

	run := func(script string) {
		j, err := Start("/bin/sh", []string{"sh", "-c", script}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
		if err != nil {
			t.Fatal(err)
		}

		<-j.Ended()
		if !strings.Contains(script, "&") {
			<-j.Empty()
		}
		defer syscall.Kill(-j.PID(), syscall.SIGKILL) // there is none but ours

		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}

	run("exit 0")
	w, err := process.Watch(os.Getpid()) // the runtime's own descriptors stay
	if err != nil {
		t.Fatal(err)
	}

	w.Close()

	// So does what package signal starts, which the job above does only if it takes some time.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGCONT)
	signal.Stop(caught)
	before := count()

	for range 5 {
		run("exit 0")
		run("sleep 1000 & exit 0")
		if _, err := Start("/no such", []string{"a"}, nil, nil, NewKeeper(process.NewStartID(), time.Second)); err == nil {
			t.Fatal("no error")
		}
	}

	var now [2]int
	t.Cleanup(func() { t.Logf("goroutines and descriptors: %v, were %v", now, before) })
	poll.Until(t, "all is released", func() bool {
		now = count()
		return now[0] <= before[0] && now[1] <= before[1]
	})
}

// Closed early, it is still waited for.
func TestJobClosedEarly(t *testing.T) {
	t.Parallel()
	j, dir := startJob(t, "echo $$ >pid; exec sleep 1000")
	p := identify(t, pids(t, filepath.Join(dir, "pid"))[0])
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if closed(j.Ended()) || process.Exited(p.PID, p.StartTicks) {
		t.Error("it has ended")
	}
	if err := process.SignalProcess(p, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	mustClose(t, "Ended", j.Ended())
	proctest.MustBeReaped(t, p.PID)
	if closed(j.Empty()) {
		t.Error("Empty is closed")
	}
}

func BenchmarkJobLeft(b *testing.B) {
	j, err := Start("/bin/sleep", []string{"sleep", "1000"}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	defer j.Signal(syscall.SIGKILL)
	for b.Loop() {
		j.Left()
	}
}

func BenchmarkJob(b *testing.B) {
	for b.Loop() {
		j, err := Start("/bin/true", []string{"true"}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
		if err != nil {
			b.Fatal(err)
		}
		<-j.Empty()
		j.Close()
	}
}
