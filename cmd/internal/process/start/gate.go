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

// patience is how long a stage may take for steps that are instant unless they fail.
const patience = 10 * time.Second

// Gate holds back a command: its process exists, as a stage (see Stage), but does not run the
// command before Release. If this process ends before Release, in whatever way, the stage also ends
// and has run nothing. A gate is for one goroutine, which ends it with Release or Cancel.
type Gate struct {
	start   Command
	process protocol.Process
	watched *process.Watched // the stage, which becomes the command
	conn    *os.File         // this is the only copy, so it closes when this process ends
	keeper  *keeperHandle    // nil if the stage has none
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

// newGate takes over conn, whose other end is with the process pid.
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

// Process returns the identity of the stage, or only its pid if nothing else is known. The command
// will have the same.
func (g *Gate) Process() protocol.Process {
	return g.process
}

// Keeper returns the identity of the keeper of the stage, which is its parent. It returns the zero
// Process if there is none.
func (g *Gate) Keeper() protocol.Process {
	if g.keeper == nil {
		return protocol.Process{}
	}
	return g.keeper.process
}

// Release lets the stage run the command, and ends the gate. It returns nil once exec(2) has
// succeeded, with the same pid and start time. It also returns nil if the stage is killed just
// before that.
//
// Otherwise it returns ErrSilent; or the failure, such as `exec "foo": no such file or directory`,
// or ErrTooLate, and then nothing of the command has run. After an error the process is gone.
func (g *Gate) Release() error {
	g.conn.SetDeadline(time.Now().Add(patience))
	_, err := g.conn.Write(g.start.encode())
	if err == nil {
		err = g.answer()
	} else {
		g.watched.Signal(syscall.SIGKILL) // no answer will come
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

	switch {
	case err != nil:
		g.watched.Signal(syscall.SIGKILL) // it has everything it needs to continue
		return fmt.Errorf("stage %d: %w: %w", g.process.PID, ErrSilent, err)
	case string(answer) == ErrTooLate.Error():
		return ErrTooLate
	case len(answer) > 0:
		return errors.New(string(answer))
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
