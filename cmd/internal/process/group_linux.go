package process

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// InGroup reports whether p is in the process group that leader leads.
func InGroup(p, leader observe.Process) bool {
	return inGroup(p.PID, leader.PID)
}

func inGroup(pid, group int) bool {
	found, err := unix.Getpgid(pid)
	return err == nil && found == group
}

// IsMember reports whether pid is in a process group and not a zombie.
func IsMember(pid, group int) bool {
	return inGroup(pid, group) && !Exited(pid, 0)
}

// Members returns the pids of a process group without zombies, in ascending order. It returns none
// if /proc does not show them. It reads the directory /proc and makes one system call per process.
func Members(group int) (pids []int) {
	all, _ := Numbers("/proc")
	for _, pid := range all {
		if IsMember(pid, group) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
