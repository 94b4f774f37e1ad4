package job

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"golang.org/x/sys/unix"
)

// session is a terminal with its shell, which runs a process that runs a job.
type session struct {
	*proctest.Child
	master *os.File
	heard  []string // and not asked for yet
	runner int
}

// openPTY returns both ends of a new terminal.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}

	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}

	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}

	return master, slave
}

// openSession starts a shell that runs a shell script as a job of a child of its own; its directory
// is $0. how is "foreground", "background", or "pipe" for a foreground job whose stdout is not the
// terminal.
func openSession(t *testing.T, how, script, dir string) *session {
	t.Helper()
	return openSessionWith(t, how, "/bin/sh", "-c", script, dir)
}

func openSessionWith(t *testing.T, how string, argv ...string) *session {
	t.Helper()
	master, slave := openPTY(t)
	defer slave.Close()

	cmd := exec.Command("/proc/self/exe", append([]string{how}, argv...)...)
	cmd.ExtraFiles = []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	s := &session{Child: proctest.StartCommand(t, cmd, "shell"), master: master}

	for line := s.First; ; line = s.Line(t) { // the job may print something before the shell does
		if _, err := fmt.Sscanf(line, "runner %d", &s.runner); err == nil {
			return s
		}
		s.heard = append(s.heard, line)
	}
}

// playShell is a job control shell for one job on terminal 3. It reports what happens to the job
// and to itself, and obeys commands on stdin.
func playShell() {
	const tty = 3
	unix.CloseOnExec(tty)
	cmd := exec.Command("/proc/self/exe", append([]string{"2"}, os.Args[2:]...)...)
	cmd.Env = append(os.Environ(), proctest.RoleVariable+"=job")
	terminal := os.NewFile(tty, "terminal")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, os.Stdout
	if os.Args[1] == "pipe" {
		cmd.Stdout = nil
	}

	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: os.Args[1] != "background",
		Ctty: tty}
	if os.Args[1] == "background" {
		unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, unix.Getpgrp())
	}
	if err := cmd.Start(); err != nil {
		proctest.Serve(err.Error())
	}

	runner := cmd.Process.Pid
	signal.Ignore(syscall.SIGTTOU)
	fmt.Println("runner", runner)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if lines.Text() == "fg" { // else "bg"
				unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, runner)
			}
			unix.Kill(-runner, unix.SIGCONT)
		}
	}()

	shellWaits(tty, runner)
}

func shellWaits(tty, runner int) {
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(runner, &status, unix.WUNTRACED, nil); err != nil {
			continue
		}

		unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, unix.Getpgrp())
		switch {
		case status.Stopped():
			fmt.Println("stopped", int(status.StopSignal()))
		case status.Signaled():
			fmt.Println("killed", int(status.Signal()))
			select {}
		default:
			fmt.Println("exited", status.ExitStatus())
			select {}
		}
	}
}

// hear fails the test unless line is printed.
func (s *session) hear(t *testing.T, line string) {
	t.Helper()
	for {
		if i := slices.Index(s.heard, line); i >= 0 {
			s.heard = slices.Delete(s.heard, i, i+1)
			return
		}

		next, err := s.Out.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q, heard %q: %v", line, s.heard, err)
		}

		s.heard = append(s.heard, next[:len(next)-1])
	}
}

// job returns the pid of the job.
func (s *session) job(t *testing.T) int {
	t.Helper()
	for _, line := range s.heard {
		var pid int
		if _, err := fmt.Sscanf(line, "started %d", &pid); err == nil {
			return pid
		}
	}

	s.heard = append(s.heard, s.Line(t))
	return s.job(t)
}

func (s *session) typeIn(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (s *session) tell(t *testing.T, command string) {
	t.Helper()
	if _, err := s.In.Write([]byte(command + "\n")); err != nil {
		t.Fatal(err)
	}
}

func (s *session) mustBeForeground(t *testing.T, who string, group int) {
	t.Helper()
	poll.Until(t, who+" is the foreground",
		func() bool { return foreground(int(s.master.Fd())) == group })
}

func (s *session) modes(t *testing.T) *unix.Termios {
	t.Helper()
	found, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *session) echoes(t *testing.T) bool {
	t.Helper()
	return s.modes(t).Lflag&unix.ECHO != 0
}

func (s *session) setEcho(t *testing.T, on bool) {
	t.Helper()
	m := s.modes(t)
	m.Lflag &^= unix.ECHO
	if on {
		m.Lflag |= unix.ECHO
	}
	if err := unix.IoctlSetTermios(int(s.master.Fd()), unix.TCSETS, m); err != nil {
		t.Fatal(err)
	}
}

// waitForHandler returns when the runner handles SIGTSTP.
func (s *session) waitForHandler(t *testing.T) {
	t.Helper()
	poll.Until(t, "a handler", func() bool {
		caught, err := strconv.ParseUint(proctest.Value(t, fmt.Sprintf("/proc/%d/status", s.runner),
			"SigCgt:"), 16, 64)
		return err == nil && caught&(1<<(syscall.SIGTSTP-1)) != 0
	})
}
