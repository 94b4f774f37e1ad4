package process

import (
	"fmt"
	"syscall"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// SignalProcess sends sig to p, and never to another process that has its number now. It sends
// SIGCONT after SIGTERM, which a stopped process would not get otherwise.
//
// It returns ErrNoProcess if p has ended, even if it is a zombie; or the error of pidfd_open(2) or
// pidfd_send_signal(2), such as EPERM. It returns another error, and sends nothing, if p has no
// identity, is of another host, boot or pid namespace, or cannot be identified now (see Identify).
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

// SignalGroup is SignalProcess for the whole process group that p leads: a service, with those of
// its descendants that have not made a group of their own. It refuses p if p leads none. It
// succeeds if one process of the group could be signalled.
//
// Before Linux 6.9 it signals one process after the other, and may miss the child of one that forks
// meanwhile.
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

// signalGroup signals the group that the process leads, or returns ErrNoProcess if that has ended.
// Flags are those of pidfd_send_signal(2); where the kernel does not know them, the members of the
// group, whose number is pid, are signalled.
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

// signalMembers signals the processes of the group pid, whose leader pidfd is a handle on, the
// leader last. It succeeds if one could be signalled. One that forks at this moment may leave a
// child out.
func signalMembers(pid int, pidfd uintptr, sig syscall.Signal) error {
	members, err := watchMembers(pid, pidfd)
	if err != nil {
		return err
	}
	any := false
	for _, w := range members {
		any = w.Signal(sig) == nil || any // it may have ended, or be another user's
		w.Close()
	}
	err = unix.PidfdSendSignal(int(pidfd), sig, nil, 0)
	if any { // the leader may have ended with them
		return nil
	}
	return err
}

// watchMembers returns handles on the processes of the group pid, without the leader, which pidfd
// is a handle on: while that has not ended, the number is that group's. Nobody is signalled before
// there is a handle on all, for the leader may end with the first of them.
func watchMembers(pid int, pidfd uintptr) (members []*Watched, err error) {
	pids, err := listed()
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

// hold opens a handle on p, or returns ErrNoProcess if p has ended, or why p is not to be
// signalled.
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
	h := here.host
	if p.HostID != h.ID || p.BootID != h.BootID || p.PIDNamespace != h.PIDNamespace {
		return fmt.Errorf("process %d is of another host, boot or pid namespace", p.PID)
	}
	return nil
}
