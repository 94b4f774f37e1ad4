//go:build unix

package job

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the controlling terminal of this process. Its foreground is set with SIGTTOU ignored,
// because SIGTTOU would stop us.
type terminal struct {
	fd     int
	own    int         // the process group of this process
	lent   bool        // the job has been the foreground
	before *term.State // the modes when it was lent, nil if unknown
	modes  *term.State // the modes that the job had set when it was stopped; nil if it was not
}

// openTerminal returns nil if this process has no terminal.
func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	own, _ := unix.Getpgid(0)
	return &terminal{fd: fd, own: own}
}

// foreground returns the foreground group, or 0.
func (t *terminal) foreground() int {
	return foreground(t.fd)
}

// ours reports whether we are the foreground of the terminal and both stdin and stdout are that
// terminal.
func (t *terminal) ours() bool {
	// A terminal other than ours has no foreground that we can read.
	return t.foreground() == t.own && foreground(0) == t.own && foreground(1) == t.own
}

// handOver records that the job gets the foreground.
func (t *terminal) handOver() {
	if !t.lent {
		t.lent = true
		t.before, _ = term.GetState(t.fd)
	}
}

// give makes group the foreground.
func (t *terminal) give(group int) error {
	return os.NewSyscallError("tcsetpgrp", unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group))
}

// takeBack makes us the foreground if the terminal was lent, and job or a group that no longer
// exists has it.
func (t *terminal) takeBack(job int) error {
	if t == nil || !t.lent {
		return nil
	}
	holder := t.foreground()
	if holder == 0 || holder != job && unix.Kill(-holder, 0) != unix.ESRCH {
		return nil
	}
	return t.give(t.own)
}

// restore sets the modes that the terminal had before it was lent, if we are the foreground.
func (t *terminal) restore() {
	if t.foreground() == t.own {
		t.setModes(t.before)
	}
}

func (t *terminal) close() error {
	if t == nil {
		return nil
	}
	setDefault(syscall.SIGTTOU)
	return unix.Close(t.fd)
}

// foreground returns the foreground group of the terminal fd, or 0 if fd is not our terminal.
func foreground(fd int) int {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// setModes sets the modes of the terminal, unless they are nil.
func (t *terminal) setModes(modes *term.State) {
	if modes != nil {
		term.Restore(t.fd, modes)
	}
}
