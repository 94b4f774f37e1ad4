//go:build unix && !linux

package start

import (
	"os"
	"os/exec"
	"syscall"
)

// Spawn starts a stage for s, as the leader of a new session with /dev/null as stdin. It has no
// keeper. The caller's main function must call Stage. The process outlives this one, which waits
// for it in the background. It inherits the umask, the limits and the control group of this
// process, but no descriptor, no blocked signal and no ignored SIGHUP or SIGINT; other ignored
// signals are those that Go leaves ignored (SIGTSTP, SIGTTIN, SIGTTOU). Release reports errors in
// s.
func Spawn(s Command) (*Gate, error) {
	if len(s.Argv) == 0 {
		return nil, errNoCommand
	}

	path, err := executable()
	if err != nil {
		return nil, err
	}

	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}

	cmd := exec.Cmd{
		Path:        path,
		Args:        []string{os.Args[0], stageFlag, "3"},
		Env:         []string{}, // not nil, which would mean ours
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}

	err = cmd.Start()
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, err
	}

	g, err := newGate(s, ours, cmd.Process.Pid, 0)
	go cmd.Wait() // not before newGate: until then no other process can get the pid

	return g, err
}
