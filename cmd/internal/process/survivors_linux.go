package process

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// Survivors returns the processes of the session that leader leads or led: those that started no earlier and that carry
// each entry of env, "NAME=value", in the environment they were given when they began their program. The leader is among
// them while it lives, a zombie is not. Each is to be signalled by SignalProcess. None is found if leader has no identity
// here and now, or if env is empty, for the number of a session may be given to another one.
//
// It does not find what has left the session, runs as another user or under a setuid bit, has overwritten its
// environment, or cannot be identified. It returns an error, with the others, if there is one of which it cannot be told,
// for it has been amid an execve, or amid its end, all the time of execPatience.
//
// It reads the directory /proc and makes one system call for each process, and some twenty for members of the session.
func Survivors(leader protocol.Process, env []string) (found []protocol.Process, doubt error) {
	if local(leader) != nil || len(env) == 0 {
		return nil, nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	until := time.Now().Add(execPatience)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !inSession(pid, leader.PID) {
			continue
		}
		p, err := Identify(pid)
		if err != nil || p.StartTicks < leader.StartTicks {
			continue
		}
		if !inSession(pid, leader.PID) {
			continue
		}
		carried, certain := carries(pid, env, until)
		switch {
		case Exited(pid, p.StartTicks): // else all that was asked of pid was asked of p
		case carried:
			found = append(found, p)
		case !certain:
			doubt = fmt.Errorf("process %d shows no environment yet", pid)
		}
	}
	return found, doubt
}

func inSession(pid, session int) bool {
	found, err := unix.Getsid(pid)
	return err == nil && found == session
}
