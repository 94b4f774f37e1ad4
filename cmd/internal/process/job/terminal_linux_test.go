package job

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"
)

const reader = `echo ready >&2; read line; echo "got $line" >&2; exit 5`

func TestTerminalForeground(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground", reader, "")
	s.hear(t, "ready")
	job := s.job(t)
	s.mustBeForeground(t, "the job", job)
	ignored, err := strconv.ParseUint(proctest.Value(t, fmt.Sprintf("/proc/%d/status", job),
		"SigIgn:"), 16, 64)
	if err != nil || ignored&^proctest.OfThreads != 0 {
		t.Errorf("it ignores %x, %v", ignored, err)
	}

	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "closed foreground true")
	s.hear(t, "exited 5")
}

// The runner learns of Ctrl-C only from the death of the job, and then dies of it as well.
func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{
		"\x03": {"ended 0 2", "closed foreground true", "interrupted 2", "killed 2"},
		"\x1c": {"ended 0 3", "closed foreground true", "interrupted 3", "exited 131"},
	} {
		s := openSession(t, "foreground", "ulimit -c 0; echo ready >&2; exec sleep 1000", "")
		s.hear(t, "ready")
		s.mustBeForeground(t, "the job", s.job(t))
		s.typeIn(t, key)
		for _, line := range want {
			s.hear(t, line)
		}
	}
}

// A job that handles Ctrl-C was not interrupted.
func TestTerminalInterruptHandled(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground",
		`trap "exit 6" INT; echo ready >&2; while :; do sleep 0.01; done`, "")
	s.hear(t, "ready")
	s.typeIn(t, "\x03")
	s.hear(t, "ended 6 0")
	s.hear(t, "exited 6")
}

func TestTerminalStop(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground", reader, "")
	s.hear(t, "ready")
	job := s.job(t)
	s.setEcho(t, false)

	for range 3 {
		s.typeIn(t, "\x1a")
		s.hear(t, "stopped "+strconv.Itoa(int(syscall.SIGTSTP)))
		s.mustBeForeground(t, "the shell", s.Process.Pid)
		if !proctest.InState(job, "T") || !proctest.InState(s.runner, "T") {
			t.Error("they are not stopped")
		}

		s.setEcho(t, true)
		s.tell(t, "fg")
		s.mustBeForeground(t, "the job", job)
		poll.Until(t, "the modes are the job's", func() bool { return !s.echoes(t) })
		poll.Until(t, "they go on", func() bool {
			return !proctest.InState(job, "T") &&
				!proctest.InState(s.runner, "T")
		})
	}

	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "exited 5")
}

func TestTerminalStopAndGoOnInBackground(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSession(t, "foreground",
		`mkfifo "$0/fifo"; echo ready >&2; read x <"$0/fifo"; `+reader, dir)
	s.hear(t, "ready")
	job := s.job(t)
	s.typeIn(t, "\x1a")
	s.hear(t, "stopped 20")
	s.tell(t, "bg")
	poll.Until(t, "they go on", func() bool {
		return !proctest.InState(job, "T") &&
			!proctest.InState(s.runner, "T")
	})
	s.mustBeForeground(t, "the shell", s.Process.Pid)
	if err := os.WriteFile(filepath.Join(dir, "fifo"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}

	s.hear(t, "ready")
	s.hear(t, "stopped 20") // since it reads
	s.tell(t, "fg")
	s.mustBeForeground(t, "the job", job)
	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "closed foreground true")
	s.hear(t, "exited 5")
}

// A stop signal sent to the runner alone stops everything.
func TestTerminalStopFromOutside(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground", reader, "")
	s.hear(t, "ready")
	job := s.job(t)
	s.waitForHandler(t)
	if err := syscall.Kill(s.runner, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}

	s.hear(t, "stopped 20")
	if !proctest.InState(job, "T") {
		t.Error("the job is not stopped")
	}

	s.tell(t, "fg")
	s.mustBeForeground(t, "the job", job)
	poll.Until(t, "it goes on", func() bool { return !proctest.InState(job, "T") })

	// So does a SIGSTOP of the job, with which some editors suspend themselves. Otherwise no one
	// would own the terminal.
	if err := syscall.Kill(job, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}

	s.hear(t, "stopped 20")
	s.tell(t, "fg")
	s.mustBeForeground(t, "the job", job)
	poll.Until(t, "it goes on", func() bool { return !proctest.InState(job, "T") })
	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "exited 5")
}

// Nobody could make an orphaned group go on, so the job does not stop either.
func TestTerminalStopOfOrphans(t *testing.T) {
	t.Parallel()
	master, slave := openPTY(t)
	cmd := exec.Command("/proc/self/exe", "3", "/bin/sh", "-c",
		`echo ready >/dev/tty; while :; do read line; echo "got $line" >/dev/tty; done`)
	report, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()

	cmd.Env = append(os.Environ(), proctest.RoleVariable+"=job")
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = slave, slave, []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	slave.Close()
	theirs.Close()
	s := &session{Child: &proctest.Child{Cmd: cmd, Out: bufio.NewReader(master)}, master: master}
	overdue := time.AfterFunc(poll.Patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})

	line, err := bufio.NewReader(report).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	job := started(t, line)
	s.mustBeForeground(t, "the job", job)
	s.hear(t, "ready\r")
	s.setEcho(t, false)

	for range 3 {
		s.typeIn(t, "\x1a")
		s.mustBeForeground(t, "the job", job)
		poll.Until(t, "it goes on", func() bool { return !proctest.InState(job, "T") })
		s.typeIn(t, "hello\n")
		s.hear(t, "got hello\r")
	}
}

// With stdout elsewhere, the terminal is lent when the job reads from it.
func TestTerminalLentLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSession(t, "pipe", `mkfifo "$0/fifo"; echo waiting >&2; read x <"$0/fifo"; `+reader,
		dir)
	s.hear(t, "waiting")
	job := s.job(t)
	s.waitForHandler(t)
	s.mustBeForeground(t, "the runner", s.runner)
	s.typeIn(t, "\x1a")
	s.hear(t, "stopped 20")
	if !proctest.InState(job, "T") {
		t.Error("the job is not stopped")
	}

	s.tell(t, "fg")
	poll.Until(t, "they go on", func() bool {
		return !proctest.InState(job, "T") &&
			!proctest.InState(s.runner, "T")
	})
	s.mustBeForeground(t, "the runner", s.runner)
	if err := os.WriteFile(filepath.Join(dir, "fifo"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}

	s.hear(t, "ready")
	s.mustBeForeground(t, "the job", job)
	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "closed foreground true")
	s.hear(t, "exited 5")
	if slices.Contains(s.heard, "stopped 20") {
		t.Errorf("heard %q", s.heard)
	}
}

// A job in the background that reads stops all, until the shell makes it the foreground.
func TestTerminalBackground(t *testing.T) {
	t.Parallel()
	s := openSession(t, "background", reader, "")
	s.hear(t, "stopped 20")
	s.mustBeForeground(t, "the shell", s.Process.Pid)
	s.tell(t, "fg")
	s.mustBeForeground(t, "the job", s.job(t))
	s.typeIn(t, "hello\n")
	s.hear(t, "got hello")
	s.hear(t, "closed foreground true")
	s.hear(t, "exited 5")
}

// Close takes the terminal back from whichever process of the job had it last, and restores modes
// that a killed job has left.
func TestTerminalKilled(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground", `echo ready >&2; exec sleep 1000`, "")
	s.hear(t, "ready")
	job := s.job(t)
	s.setEcho(t, false)
	if err := syscall.Kill(job, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	s.hear(t, "closed foreground true")
	s.hear(t, "exited 0")
	if !s.echoes(t) {
		t.Error("it does not echo")
	}
}

// Modes set by a job that ends by itself stay, as stty(1) intends.
func TestTerminalModesStay(t *testing.T) {
	t.Parallel()
	s := openSession(t, "foreground", "stty -echo", "")
	s.hear(t, "closed foreground true")
	s.hear(t, "exited 0")
	if s.echoes(t) {
		t.Error("it echoes")
	}
}

func TestTerminalNotFound(t *testing.T) {
	t.Parallel()
	s := openSessionWith(t, "foreground", "/no such")
	s.hear(t, "error no such file or directory foreground true")
}
