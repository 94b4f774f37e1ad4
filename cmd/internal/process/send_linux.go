package process

import (
	"fmt"
	"syscall"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// SignalProcess sends sig to p and to nobody else, not to a process that has its number now. It returns ErrNoProcess if
// p has ended, a zombie included; an error of its own, and sends nothing, if p has no identity, is of another host, boot
// or pid namespace, or cannot be told from others now (see Identify); or the error of pidfd_open(2) or
// pidfd_send_signal(2), such as EPERM. SIGTERM is followed by SIGCONT, or a stopped process would not get it.
func SignalProcess(p protocol.Process, sig syscall.Signal) error {
	w, err := hold(p)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Signal(sig); err != nil {
		return err
	}
	if sig == syscall.SIGTERM {
		w.Signal(syscall.SIGCONT) // an error means that the first was enough
	}
	return nil
}

// SignalGroup is SignalProcess for the whole process group that p leads: what Spawn or SpawnUnit started, with those of
// its descendants that have not made a group of their own. It refuses p if p leads none. It succeeds if one process of
// the group could be signalled. Before Linux 6.9 another group could be hit that gets the number in the instant between
// the check and the signal.
func SignalGroup(p protocol.Process, sig syscall.Signal) error {
	w, err := hold(p)
	if err != nil {
		return err
	}
	defer w.Close()
	if group, err := unix.Getpgid(p.PID); err == nil && group != p.PID {
		return fmt.Errorf("process %d is in group %d and leads none", p.PID, group)
	}
	if err := w.signalGroup(p.PID, sig, unix.PIDFD_SIGNAL_PROCESS_GROUP); err != nil {
		return err
	}
	if sig == syscall.SIGTERM {
		w.signalGroup(p.PID, syscall.SIGCONT, unix.PIDFD_SIGNAL_PROCESS_GROUP)
	}
	return nil
}

// InGroup reports whether p is in the process group that leader leads.
func InGroup(p, leader protocol.Process) bool {
	group, err := unix.Getpgid(p.PID)
	return err == nil && group == leader.PID
}

// signalGroup signals the group that the process leads, or returns ErrNoProcess if that has ended. Flags are those of
// pidfd_send_signal(2); where the kernel does not know them, the group is signalled by its number, pid.
func (w *Watched) signalGroup(pid int, sig syscall.Signal, flags int) error {
	err := ErrNoProcess
	w.conn.Control(func(fd uintptr) {
		if ended(fd) {
			return
		}
		err = unix.PidfdSendSignal(int(fd), sig, nil, flags)
		if err == unix.EINVAL {
			err = unix.Kill(-pid, sig)
		}
	})
	if err == unix.ESRCH {
		return ErrNoProcess
	}
	return err
}

// hold opens a handle on p, or returns ErrNoProcess if p has ended, or why p is not to be signalled.
func hold(p protocol.Process) (*Watched, error) {
	if err := local(p); err != nil {
		return nil, err
	}
	w, err := Watch(p.PID)
	if err != nil {
		return nil, err
	}
	found, err := Identify(p.PID) // after Watch: if it finds p, the handle is on p
	switch {
	case err != nil:
	case found == p:
		return w, nil
	case found.Known():
		err = ErrNoProcess
	default:
		err = fmt.Errorf("process %d cannot be identified", p.PID)
	}
	w.Close()
	return nil, err
}

// local returns nil if p has an identity that can be looked for here.
func local(p protocol.Process) error {
	if !p.Known() || p.StartTicks == 0 {
		return fmt.Errorf("process %d has no identity", p.PID)
	}
	here.once.Do(surroundings)
	if h := here.host; p.HostID != h.ID || p.BootID != h.BootID || p.PIDNamespace != h.PIDNamespace {
		return fmt.Errorf("process %d is of another host, boot or pid namespace", p.PID)
	}
	return nil
}
