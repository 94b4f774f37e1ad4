package start

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// setOOMScoreAdj says how soon the kernel kills this process, and what it starts, for lack of memory.
func setOOMScoreAdj(n int) error {
	fd, err := unix.Open("/proc/self/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(strconv.Itoa(n)))
	return err
}

// shortOfMemory reports whether the kernel has killed a process of the control group of this
// process because memory was short. The group must be of one start only: that of a unit of systemd.
func shortOfMemory() bool {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false
	}
	_, path, unified := strings.Cut("\n"+string(groups), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	if !unified { // version 1 does not count them
		return false
	}
	events, err := os.ReadFile("/sys/fs/cgroup" + path + "/memory.events")
	return err == nil && oomKills(string(events))
}

// oomKills reports whether the text of a file memory.events counts processes that were killed.
func oomKills(events string) bool {
	for line := range strings.Lines(events) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "oom_kill" {
			return count != "0"
		}
	}
	return false
}
