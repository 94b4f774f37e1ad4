package process

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// Survivors returns the processes of the start startID, in whatever session: those that started no earlier than leader,
// the first of them, and that carry startID in the environment they were given when they began their program (see
// StartVariable). The leader is among them while it lives, a zombie is not. Signal each with SignalProcess. None is found
// if leader has no identity here and now, or if startID is empty.
//
// It does not find what runs as another user or under a setuid bit, has a cleared or overwritten environment, or cannot
// be identified. It returns an error, with the others, if it cannot tell of one in the session that leader leads or led,
// because that one has been amid an execve, or amid its end, all the time of execPatience. One in another session counts
// as a stranger then: on a busy machine there is always some process amid an execve.
//
// It reads the directory /proc, and the state of each process; and the environment of those that are young enough.
func Survivors(leader protocol.Process, startID string) (found []protocol.Process, doubt error) {
	if local(leader) != nil || startID == "" {
		return nil, nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	until, marks := time.Now().Add(execPatience), []string{StartVariable + "=" + startID}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		switch p, is, unsure := survivor(pid, leader, marks, until); {
		case is:
			found = append(found, p)
		case unsure != nil:
			doubt = unsure
		}
	}
	return found, doubt
}

// survivor reports whether pid is a process that started no earlier than leader and carries marks, and
// returns it. It returns an error if it cannot tell; see Survivors.
func survivor(pid int, leader protocol.Process, marks []string, until time.Time) (protocol.Process, bool, error) {
	p, err := Identify(pid)
	if err != nil || p.StartTicks < leader.StartTicks {
		return p, false, nil
	}

	carried, certain := carries(pid, marks, until)
	switch {
	case Exited(pid, p.StartTicks): // else all that was asked of pid was asked of p
		return p, false, nil
	case !carried && !certain && inSession(pid, leader.PID):
		return p, false, fmt.Errorf("process %d shows no environment yet", pid)
	}
	return p, carried, nil
}

func inSession(pid, session int) bool {
	found, err := unix.Getsid(pid)
	return err == nil && found == session
}
