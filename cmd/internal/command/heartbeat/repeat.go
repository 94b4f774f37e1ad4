package heartbeat

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// repeat sends heartbeats, through status 3, until the operation is over (4), the participant was
// declared crashed or the supervisor dead (5), the call has been popped (4), or the watched process
// ends (0).
func (c *heartbeat) repeat(env *cli.Env, b *beater) error {
	told, err := c.watch()
	if errors.Is(err, process.ErrNoProcess) {
		return nil // it has already ended
	}
	if err != nil {
		return err
	}
	defer told.close()

	for beaten := false; ; {
		status, err := b.beat()
		switch {
		case beaten && errors.Is(err, protocol.ErrNoCall):
			return cli.Exit(cli.StatusOver)
		case err != nil && !cli.Transient(err):
			return err
		case err != nil:
			env.Warnf("%v", err)
		case status == cli.StatusCleanUp:
			if err := told.once(env, b.summons(status)); err != nil {
				return err
			}
		case status == cli.StatusCrashed:
			return errors.Join(told.once(env, b.summons(status)), cli.Exit(status))
		case status == cli.StatusOver && b.op == "": // one of several operations; the others go on
		case status != cli.StatusOK && status != cli.StatusAsked:
			return cli.Exit(status)
		}

		beaten = beaten || err == nil
		select {
		case <-told.done():
			return nil
		case <-time.After(cli.Jittered(time.Duration(c.Every))):
		}
	}
}

// watched is the process to send heartbeats for, if any, and whether it was asked to clean up.
type watched struct {
	process *process.Watched
	signal  syscall.Signal
	told    bool
}

func (c *heartbeat) watch() (w *watched, err error) {
	w = &watched{signal: syscall.Signal(c.Signal)}
	if c.WhilePID != 0 {
		if w.process, err = process.Watch(int(c.WhilePID)); err != nil {
			err = fmt.Errorf("--while-pid %d: %w", c.WhilePID, err)
		}
	}
	return w, err
}

func (w *watched) close() {
	if w.process != nil {
		w.process.Close()
	}
}

// done returns a channel that is closed when the process ends. Without a process it returns nil.
func (w *watched) done() <-chan struct{} {
	if w.process == nil {
		return nil
	}
	return w.process.Done()
}

// once prints message, unless it is empty, and sends the signal. It does so only once.
func (w *watched) once(env *cli.Env, message string) error {
	if w.told || message == "" {
		return nil
	}

	w.told = true
	env.Warnf("%s", message)
	if w.signal == 0 {
		return nil
	}
	if err := w.process.Signal(w.signal); err != nil && !errors.Is(err, process.ErrNoProcess) {
		return err
	}
	return nil
}
