//go:build unix

package start

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// patience is how long a stage may take for things that take no time unless they fail.
const patience = 10 * time.Second

// Gate holds back a command: its process is there, as a stage (see Stage), but does not run the
// command before Release. If this process ends before Release, in whatever way, the stage ends as
// well and has run nothing. A gate is for one goroutine, which ends it with Release or Cancel.
type Gate struct {
	start   Command
	process protocol.Process
	watched *process.Watched // the stage, which becomes the command
	conn    *os.File         // nobody else has this end: it closes when this process ends
	keeper  *keeperHandle    // nil: the stage has none
}

var errNoCommand = errors.New("no command")

// socketpair returns the two ends of a connection, the first in the poller. Neither is inherited.
func socketpair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no process is forked between these calls
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

// newGate takes over conn, whose other end the process pid has.
func newGate(s Command, pid int, conn *os.File) (*Gate, error) {
	w, err := process.Watch(pid)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("stage %d: %w", pid, err)
	}
	p, err := process.Identify(pid)
	if err != nil {
		conn.Close()
		w.Close()
		return nil, fmt.Errorf("stage %d: %w", pid, err)
	}
	return &Gate{start: s, process: p, watched: w, conn: conn}, nil
}

// Process returns the identity of the stage, or its pid alone if that is all that is known. Both
// will be those of the command.
func (g *Gate) Process() protocol.Process {
	return g.process
}

// Keeper returns the identity of the keeper of the stage, which is its parent; none where there are
// no keepers.
func (g *Gate) Keeper() protocol.Process {
	if g.keeper == nil {
		return protocol.Process{}
	}
	return g.keeper.process
}

// Release lets the stage run the command, and ends the gate. It returns nil once exec(2) has
// succeeded, with the same pid and start time; it also does for a stage that somebody kills just
// before that.
//
// Otherwise it returns the failure, such as `exec "foo": no such file or directory`, or ErrTooLate,
// and nothing of the command has run; or ErrSilent. After an error the process is gone.
func (g *Gate) Release() error {
	g.conn.SetDeadline(time.Now().Add(patience))
	_, err := g.conn.Write(g.start.encode())
	if err == nil {
		err = g.answer()
	} else {
		g.watched.Signal(syscall.SIGKILL) // nothing comes any more
		err = fmt.Errorf("stage %d: %w", g.process.PID, err)
	}
	if err == nil {
		return errors.Join(g.conn.Close(), g.close())
	}
	if e := g.Cancel(); e != nil && !errors.Is(e, os.ErrClosed) {
		err = fmt.Errorf("%w; %w", err, e)
	}
	return err
}

// answer returns why the stage has not become the command, or nil.
func (g *Gate) answer() error {
	answer, err := io.ReadAll(g.conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// Perhaps it was we who were stopped for so long, and it has answered, and may have run,
		// since long.
		g.conn.SetDeadline(time.Now().Add(time.Second))
		var rest []byte
		rest, err = io.ReadAll(g.conn)
		answer = append(answer, rest...)
	}
	switch {
	case err != nil:
		g.watched.Signal(syscall.SIGKILL) // it has all that it needs to go on
		return fmt.Errorf("stage %d: %w: %w", g.process.PID, ErrSilent, err)
	case string(answer) == ErrTooLate.Error():
		return ErrTooLate
	case len(answer) > 0:
		return errors.New(string(answer))
	}
	return nil
}

// Cancel makes the stage exit, which has run nothing, and returns when the stage and its keeper are
// gone. It ends the gate. It kills a stage that is still there after 10 seconds, and returns an
// error if that does not end within 10 more. If the gate is ended already, it does nothing and
// returns os.ErrClosed.
func (g *Gate) Cancel() error {
	if err := g.conn.Close(); err != nil {
		return err
	}
	defer g.close()
	if g.awaitEnd() {
		return nil
	}
	g.watched.Signal(syscall.SIGKILL)
	if g.awaitEnd() {
		return nil
	}
	return fmt.Errorf("stage %d does not end", g.process.PID)
}

func (g *Gate) awaitEnd() bool {
	overdue := time.After(patience)
	select {
	case <-g.watched.Done():
	case <-overdue:
		return false
	}
	if g.keeper == nil {
		return true
	}
	select {
	case <-g.keeper.ended():
		return true
	case <-overdue:
		return false
	}
}

// close releases the handles on the processes.
func (g *Gate) close() error {
	if g.keeper == nil {
		return g.watched.Close()
	}
	return errors.Join(g.watched.Close(), g.keeper.Close())
}
