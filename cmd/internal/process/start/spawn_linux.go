package start

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// Spawn starts a stage for s, as the leader of a new session with /dev/null as stdin, and its
// keeper, which gets the ID of s in KeeperVariable. The caller's main function must call Stage.
// Both outlive this process, which waits for the keeper in the background. The stage inherits the
// umask, the limits and the control group of this process, but no descriptor, no blocked signal and
// no ignored SIGHUP or SIGINT; other ignored signals are those that Go leaves ignored (SIGTSTP,
// SIGTTIN, SIGTTOU). Release reports errors in s.
func Spawn(s Command) (*Gate, error) {
	if len(s.Argv) == 0 {
		return nil, errNoCommand
	}

	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}

	keeper, err := startKeeper(theirs, s)
	theirs.Close() // or we would not see them close their end
	if err != nil {
		ours.Close()
		return nil, err
	}

	ours.SetReadDeadline(time.Now().Add(patience))
	stage, err := readNumber(ours)
	ours.SetReadDeadline(time.Time{})
	if err != nil {
		ours.Close()
		unix.Kill(keeper, unix.SIGKILL) // its stage, if any, dies with it
		waitFor(keeper)
		if err == io.EOF {
			err = errUnbegun
		}
		return nil, fmt.Errorf("keeper %d: %w", keeper, err)
	}

	g, err := newGate(s, ours, stage, keeper)
	go waitFor(keeper) // not earlier: until then no other process can get the pid
	if err != nil {
		return nil, err
	}

	if hungUp(ours) { // otherwise the stage existed all along, and the pid is its own
		g.Cancel()
		return nil, fmt.Errorf("stage %d: %w", stage, errUnbegun)
	}

	return g, nil
}

// startKeeper starts the keeper of s and returns its pid. It already runs its program, so its
// environment can be seen. Its signals are blocked.
func startKeeper(gate *os.File, s Command) (pid int, err error) {
	path, err := executable()
	if err != nil {
		return 0, err
	}

	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, shortage{err}
	}
	defer null.Close()

	argv, env := s.keeping()
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), gate.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}

	blocked := process.WithSignalsBlocked(func() { pid, err = syscall.ForkExec(path, argv, attr) })

	if err == syscall.ENOENT { // our own program, by its name in /proc
		return 0, shortage{errors.New("/proc is missing: mount it")}
	}

	return pid, errors.Join(blocked, os.NewSyscallError("fork keeper", err))
}

// keeping returns the arguments and the environment of the keeper of s.
func (s Command) keeping() (argv, env []string) {
	argv = []string{
		startKeeperName, startKeeperFlag, os.Args[0], stageFlag, strconv.Itoa(stageGate),
	}
	if s.Record != "" {
		argv = append(argv, startKeeperName, endFlag, "0", s.Record)
	}
	env = append(s.finishing(), s.following()...)
	return argv, append(env, process.KeeperVariable+"="+s.ID)
}

// readNumber returns the pid of the stage. The keeper writes it once the stage leads its session
// and dies with the keeper. Otherwise readNumber returns the keeper's error.
func readNumber(r io.Reader) (int, error) {
	var answer [8]byte
	if _, err := io.ReadFull(r, answer[:]); err != nil {
		return 0, err
	}

	number := int64(binary.NativeEndian.Uint64(answer[:]))
	if number < 0 {
		return 0, os.NewSyscallError("fork stage", syscall.Errno(-number))
	}
	return int(number), nil
}

func waitFor(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
