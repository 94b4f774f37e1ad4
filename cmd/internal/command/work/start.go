package work

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/dpl-project/dpl/protocol/wire"
)

// start starts a worker.
func (w *workers) start() error {
	slot := 1
	for _, b := range w.busy {
		if b.slot == slot {
			slot = b.slot + 1
		}
	}

	own, err := os.Executable()
	if err != nil {
		return err
	}
	b := &worker{slot: slot, Cmd: exec.Command(own, w.arguments(slot)...)}
	b.Args[0] = os.Args[0]
	b.Stderr = os.Stderr
	b.SysProcAttr = apart()
	if err := b.startTelling(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}

	i := 0
	for i < len(w.busy) && w.busy[i].slot < slot {
		i++
	}
	w.busy = append(w.busy[:i], append([]*worker{b}, w.busy[i:]...)...)
	go func() {
		b.Wait()
		w.ended <- b
	}()
	return nil
}

// arguments returns the arguments of a worker.
func (w *workers) arguments(slot int) []string {
	c := w.flags
	who := string(c.Participant)
	if who == "" {
		who = program + "-" + ownName()
	}
	if c.Participant == "" || c.Jobs > 1 {
		who += "-" + strconv.Itoa(slot)
	}

	args := append([]string{string(c.Queue), "--once", "--ledger", w.ledger.Dir(),
		"--participant", who, "--status-fd", "3"}, w.env.Again()...)
	args = append(args, w.env.SameTime()...) // or it finds nothing to do where this one does
	args = append(args, c.limits()...)
	if len(c.Command) > 0 {
		args = append(append(args, "--"), c.Command...)
	}
	return args
}

// ownName returns what tells this process from others at a queue, for people: its pid, or in a
// container, where that is 1 everywhere, the name of the host.
func ownName() string {
	if host, err := os.Hostname(); os.Getpid() == 1 && err == nil && wire.CheckID(host) == nil {
		return host
	}
	return strconv.Itoa(os.Getpid())
}
