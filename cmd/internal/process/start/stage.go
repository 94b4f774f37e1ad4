//go:build unix

package start

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"golang.org/x/sys/unix"
)

// stageFlag is the first argument of a stage. The second is the descriptor of the gate. It also
// names the format of Command.encode. Change both together, because the stage of a unit may be a
// newer version, installed while a pass was running.
const stageFlag = "--dpl-stage6"

// What a stage writes to the gate. If its preflight begins, that is the text of ErrChecking, and
// nothing else. Otherwise it writes beginning just before it executes the command; and if it does
// not become the command, its error, after lacking if that is a shortage, or after hopeless if no
// other start succeeds.
const (
	beginning = "\x00"
	lacking   = "\x01"
	hopeless  = "\x02"
)

// startKeeperFlag is the first argument of the keeper of a stage. The arguments of the stage
// follow, beginning with its name; and then, if there is an exit record, those with which the
// keeper executes itself again when the stage has ended (see endFlag).
const startKeeperFlag = "--dpl-start-keeper"

// Stage returns at once unless this process is a stage or its keeper, which Spawn and SpawnUnit
// start from the caller's own executable. A keeper waits for its children and never returns. A
// stage waits for its Command, then becomes that command and never returns; if the gate is closed
// first, it does nothing and exits 0. The main function must call it first.
func Stage() {
	switch {
	case len(os.Args) >= 5 && os.Args[1] == startKeeperFlag:
		keep(os.Args[2:5], os.Args[5:])
	case len(os.Args) == 4 && os.Args[1] == endFlag:
		end(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == unitFlag:
		becomeKeeper(os.Args[2])
	}
	if len(os.Args) != 3 || os.Args[1] != stageFlag {
		return
	}

	runtime.LockOSThread() // the signal mask belongs to the thread
	fd, err := strconv.Atoi(os.Args[2])
	if err != nil {
		os.Exit(2)
	}
	conn := os.NewFile(uintptr(fd), "gate")

	s, err := readCommand(bufio.NewReader(conn))
	if err != nil {
		os.Exit(0)
	}

	err = s.become(conn)
	exit := policy.Exit{Reason: policy.StartFailed, Class: Class(err), Error: err.Error()}
	said := map[policy.Class]string{policy.Tempfail: lacking, policy.Terminal: hopeless}[exit.Class]
	said += err.Error()
	var refused refusal
	switch {
	case errors.As(err, &refused):
		s.ended(refused.exit)
	case !errors.Is(err, ErrTooLate):
		s.ended(exit)
	}
	io.WriteString(conn, said)
	os.Exit(1)
}

// become makes this process the command, if its preflight allows it. It returns only on an error.
// It closes conn, the gate, before the preflight begins.
func (s Command) become(conn io.WriteCloser) error {
	if err := becomeSessionLeader(); err != nil {
		return err
	}
	if err := syscall.Chdir(s.Dir); err != nil {
		return fmt.Errorf("chdir %q: %w", s.Dir, err)
	}
	if err := s.redirect(); err != nil {
		return fmt.Errorf("open log %q: %w", s.Log, err)
	}
	var err error
	if s.Env, err = Environment(s.Env, s.EnvFile); err != nil {
		return err
	}
	if s.Journal != "" {
		s.Env = inJournal(s.Env, 1)
	}
	if err := closeOnExec(); err != nil {
		return err
	}

	resetSignals()
	if err := enter(s.Context); err != nil {
		return err
	}
	if err := s.check(conn); err != nil {
		return err
	}
	if s.Latest > 0 && process.Uptime() > s.Latest {
		return ErrTooLate
	}
	if err := s.begin(); err != nil {
		return err
	}
	if err := outliveKeeper(); err != nil {
		return err
	}

	io.WriteString(conn, beginning) // if the pass has died, it is started nevertheless

	return fmt.Errorf("exec %q: %w", s.Argv[0], s.exec(func(path string, argv []string) error {
		return syscall.Exec(path, argv, s.Env)
	}))
}

// becomeSessionLeader makes this process the leader of a session, unless it is.
func becomeSessionLeader() error {
	if session, err := unix.Getsid(0); err == nil && session == os.Getpid() {
		return nil
	}
	_, err := unix.Setsid()
	return os.NewSyscallError("setsid", err)
}

// redirect appends stdout and stderr to the log.
func (s Command) redirect() error {
	fd, err := s.openLog()
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	if err := unix.Dup2(fd, 1); err != nil {
		return err
	}
	return unix.Dup2(fd, 2)
}

// openLog opens the log, LEDGER/logs/GROUP/ID.log, or the journal.
func (s Command) openLog() (int, error) {
	if s.Journal != "" {
		return openJournal(s.Log, s.Journal)
	}
	dir, name, err := openParent(s.Log)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)

	// A FIFO without a reader would block the pass.
	const appending = unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_NONBLOCK
	const flags = unix.O_NOFOLLOW | unix.O_CLOEXEC

	return unix.Openat(dir, name, flags|appending, 0o600)
}

// closeListedOnExec marks the descriptors above 2 listed in the directory dir close-on-exec.
func closeListedOnExec(dir string) error {
	fds, err := process.Numbers(dir)
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}

	for _, fd := range fds {
		if fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}

	return nil
}

// resetSignals gives all signals their usual effect in what this process executes. Exec resets
// those that have a handler; others may be ignored since this process began, as by nohup(1).
func resetSignals() {
	process.HeedSignals()
	process.UnblockSignals()
}

// exec does the same as execvpe(3) by execve, and returns its error.
func (s Command) exec(execve func(path string, argv []string) error) error {
	failed := syscall.ENOENT
	for _, path := range s.candidates() {
		switch err := process.ExecLikeShell(execve, path, s.Argv); err {
		case syscall.ENOENT, syscall.ENOTDIR:
		case syscall.EACCES:
			failed = syscall.EACCES
		default:
			return err
		}
	}

	return failed
}

// candidates returns the paths where the command may be, in order.
func (s Command) candidates() []string {
	name, path := s.Argv[0], "/bin:/usr/bin"
	if strings.Contains(name, "/") {
		return []string{name}
	}

	for _, e := range s.Env {
		if value, found := strings.CutPrefix(e, "PATH="); found {
			path = value
			break
		}
	}

	var found []string
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		if name != "" {
			found = append(found, dir+"/"+name)
		}
	}

	return found
}
