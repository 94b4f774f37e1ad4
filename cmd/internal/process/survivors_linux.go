package process

import (
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
// environment, spends more than execPatience in one execve, or cannot be identified.
//
// It reads the directory /proc and makes one system call for each process, and some twenty for members of the session.
func Survivors(leader protocol.Process, env []string) []protocol.Process {
	if local(leader) != nil || len(env) == 0 {
		return nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	until := time.Now().Add(execPatience)
	var found []protocol.Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !inSession(pid, leader.PID) {
			continue
		}
		p, err := Identify(pid)
		if err != nil || p.StartTicks < leader.StartTicks {
			continue
		}
		// Asked of whoever has the number then, which at last is still p.
		if inSession(pid, leader.PID) && carries(pid, env, until) && !Exited(pid, p.StartTicks) {
			found = append(found, p)
		}
	}
	return found
}

func inSession(pid, session int) bool {
	found, err := unix.Getsid(pid)
	return err == nil && found == session
}
