package process

import (
	"fmt"
	"syscall"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// SignalProcess sends sig to p, and never to another process that has its pid now. It sends SIGCONT
// after SIGTERM, because a stopped process would not get SIGTERM otherwise.
//
// It returns ErrNoProcess if p has ended, even if it is a zombie; or the error of pidfd_open(2) or
// pidfd_send_signal(2), such as EPERM. It returns another error, and sends nothing, if p has no
// identity, belongs to another host, boot or pid namespace, or cannot be identified now (see
// Identify).
func SignalProcess(p observe.Process, sig syscall.Signal) error {
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

// SignalGroup is like SignalProcess, for the whole process group that p leads: a service, with its
// descendants that have not made a group of their own. It returns an error if p leads no group. It
// succeeds if at least one process of the group could be signalled.
//
// Before Linux 6.9 it signals one process after the other, and may miss a child forked at that
// moment.
func SignalGroup(p observe.Process, sig syscall.Signal) error {
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

// signalGroup signals the group that the process leads, or returns ErrNoProcess if the process has
// ended. flags are those of pidfd_send_signal(2). If the kernel does not support them, it signals
// the members of the group pid one by one.
func (w *Watched) signalGroup(pid int, sig syscall.Signal, flags int) error {
	err := ErrNoProcess
	w.conn.Control(func(fd uintptr) {
		if ended(fd) {
			return
		}
		err = unix.PidfdSendSignal(int(fd), sig, nil, flags)
		if err == unix.EINVAL {
			err = signalMembers(pid, fd, sig)
		}
	})

	if err == unix.ESRCH {
		return ErrNoProcess
	}

	return err
}

// signalMembers signals the processes of the group pid, and last its leader, on which pidfd is a
// handle. It succeeds if at least one could be signalled. It may miss a child forked at that
// moment.
func signalMembers(pid int, pidfd uintptr, sig syscall.Signal) error {
	members, err := watchMembers(pid, pidfd)
	if err != nil {
		return err
	}

	any := false
	for _, w := range members {
		any = w.Signal(sig) == nil || any // it may have ended, or belong to another user
		w.Close()
	}

	err = unix.PidfdSendSignal(int(pidfd), sig, nil, 0)
	if any { // the leader may have ended with them
		return nil
	}

	return err
}

// watchMembers returns handles on the processes of the group pid without its leader, on which pidfd
// is a handle. The number belongs to that group until the leader has ended. All handles are opened
// before the first signal, because the leader may end with the first process signalled.
func watchMembers(pid int, pidfd uintptr) (members []*Watched, err error) {
	pids, err := Numbers("/proc")
	if err != nil {
		return nil, err
	}

	for _, member := range pids {
		if member == pid || !inGroup(member, pid) {
			continue
		}

		w, err := Watch(member)
		if err != nil {
			continue
		}

		if !inGroup(member, pid) || ended(pidfd) {
			w.Close()
			continue
		}

		members = append(members, w)
	}

	return members, nil
}

// hold opens a handle on p. It returns ErrNoProcess if p has ended, or another error if p must not
// be signalled.
func hold(p observe.Process) (*Watched, error) {
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
	case found.Is(p):
		return w, nil
	case found.Known():
		err = ErrNoProcess
	default:
		err = fmt.Errorf("process %d cannot be identified", p.PID)
	}

	w.Close()
	return nil, err
}

// local returns an error if p has no identity that can be checked here.
func local(p observe.Process) error {
	if !p.Known() || p.StartTicks == 0 {
		return fmt.Errorf("process %d has no identity", p.PID)
	}

	here.once.Do(surroundings)
	h := here.host
	if p.HostID != h.ID || p.BootID != h.BootID || p.PIDNamespace != h.PIDNamespace {
		return fmt.Errorf("process %d is of another host, boot or pid namespace", p.PID)
	}
	return nil
}
