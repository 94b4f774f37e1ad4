//go:build unix

package start

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/observe"
)

// patience is how long a stage may take for steps that are instant unless they fail.
const patience = 10 * time.Second

// Gate holds back a command: its process exists, as a stage (see Stage), but does not run the
// command before Release. If this process ends before Release, in whatever way, the stage also ends
// and has run nothing. A gate is for one goroutine, which ends it with Release or Cancel.
type Gate struct {
	start   Command
	stage   observe.Process    // it becomes the command
	keeper  observe.Process    // zero if the stage has none
	handles []*process.Watched // on both, the stage first
	conn    *os.File           // this is the only copy, so it closes when this process ends
}

var errNoCommand = errors.New("no command")

// socketpair returns the two ends of a connection, the first in the poller. Children inherit
// neither.
func socketpair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // so that no process is forked between the calls
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}

	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}

	err = syscall.SetNonblock(fds[0], true)
	ours, theirs = os.NewFile(uintptr(fds[0]), "gate"), os.NewFile(uintptr(fds[1]), "stage")

	return ours, theirs, os.NewSyscallError("fcntl", err)
}

// newGate takes over conn, whose other end is with the process stage. keeper is the pid of its
// keeper, or 0 if it has none.
func newGate(s Command, conn *os.File, stage, keeper int) (*Gate, error) {
	g := &Gate{start: s, conn: conn}
	var err error
	if g.stage, err = g.hold("stage", stage); err == nil && keeper != 0 {
		g.keeper, err = g.hold("keeper", keeper)
	}

	if err != nil {
		conn.Close()
		g.close()
		return nil, err
	}

	return g, nil
}

// hold opens a handle on the process that has pid now, and returns its identity. Errors call it
// name.
func (g *Gate) hold(name string, pid int) (p observe.Process, err error) {
	w, err := process.Watch(pid)
	if err == nil {
		g.handles = append(g.handles, w)
		p, err = process.Identify(pid)
	}
	if err != nil {
		err = fmt.Errorf("%s %d: %w", name, pid, err)
	}
	return p, err
}

// Process returns the identity of the stage, or only its pid if nothing else is known. The command
// will have the same.
func (g *Gate) Process() observe.Process {
	return g.stage
}

// Keeper returns the identity of the keeper of the stage, which is its parent. It returns the zero
// Process if there is none.
func (g *Gate) Keeper() observe.Process {
	return g.keeper
}

// Release lets the stage run the command, and ends the gate. It returns nil once exec(2) has
// succeeded, with the same pid and start time. It also returns nil if the stage is killed just
// before that, when it has said that it begins. If the command has a preflight, it returns
// ErrChecking when that begins.
//
// Otherwise it returns ErrSilent; or the failure, such as `exec "foo": no such file or directory`,
// or ErrTooLate, and then nothing of the command has run. After an error the process is gone.
func (g *Gate) Release() error {
	g.conn.SetDeadline(time.Now().Add(patience))
	_, err := g.conn.Write(g.start.encode())
	if err == nil {
		err = g.answer()
	} else {
		g.kill() // no answer will come
		err = fmt.Errorf("stage %d: %w: %w", g.stage.PID, errUnbegun, err)
	}

	if err == nil || err == ErrChecking {
		return cmp.Or(errors.Join(g.conn.Close(), g.close()), err)
	}
	if e := g.Cancel(); e != nil && !errors.Is(e, os.ErrClosed) {
		err = fmt.Errorf("%w; %w", err, e)
	}

	return err
}

// answer returns the stage's reason for not becoming the command, or nil.
func (g *Gate) answer() error {
	answer, err := io.ReadAll(g.conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// Perhaps we were stopped for that long, and it has answered and may have run.
		g.conn.SetDeadline(time.Now().Add(time.Second))
		var rest []byte
		rest, err = io.ReadAll(g.conn)
		answer = append(answer, rest...)
	}

	if err != nil {
		g.kill() // it has everything it needs to continue
		return fmt.Errorf("stage %d: %w: %w", g.stage.PID, ErrSilent, err)
	}

	text, begins := strings.CutPrefix(string(answer), beginning)
	text, short := strings.CutPrefix(text, lacking)
	text, never := strings.CutPrefix(text, hopeless)
	switch {
	case text == ErrChecking.Error():
		return ErrChecking
	case text == ErrTooLate.Error():
		return ErrTooLate
	case short:
		return shortage{errors.New(text)}
	case never:
		return misfit{errors.New(text)}
	case text != "":
		return errors.New(text)
	case !begins:
		return fmt.Errorf("stage %d: %w", g.stage.PID, errUnbegun)
	}

	return nil
}

// Cancel ends the gate. The stage exits without having run anything, and Cancel returns when the
// stage and its keeper are gone. It kills a stage that is still there after 10 seconds, and returns
// an error if that does not end within 10 more. If the gate has already ended, it does nothing and
// returns os.ErrClosed.
func (g *Gate) Cancel() error {
	if err := g.conn.Close(); err != nil {
		return err
	}
	defer g.close()

	if g.awaitEnd() {
		return nil
	}

	g.kill()
	if g.awaitEnd() {
		return nil
	}
	return fmt.Errorf("stage %d does not end", g.stage.PID)
}

// kill kills the stage.
func (g *Gate) kill() {
	g.handles[0].Signal(syscall.SIGKILL)
}

// awaitEnd reports whether the stage and its keeper end in time.
func (g *Gate) awaitEnd() bool {
	overdue := time.After(patience)
	for _, w := range g.handles {
		select {
		case <-w.Done():
		case <-overdue:
			return false
		}
	}

	return true
}

// close releases the handles on the processes.
func (g *Gate) close() (err error) {
	for _, w := range g.handles {
		err = errors.Join(err, w.Close())
	}
	return err
}
