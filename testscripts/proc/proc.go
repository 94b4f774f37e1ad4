// Package proc tells tests which processes exist and which have ended. It reads /proc itself,
// because the commands' own view is under test.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// StartTicks returns when a process started, in clock ticks since the boot, and whether it is
// alive. A zombie is not, unless it is only the main thread of a process whose other threads still
// run: then none of its resources are free yet.
func StartTicks(pid int) (ticks int64, alive bool) {
	field := fields(pid)
	if field == nil {
		return 0, false
	}
	state, threads := field[3], field[20]
	ticks, _ = strconv.ParseInt(field[22], 10, 64)
	return ticks, state != "Z" && state != "X" || threads != "0" && threads != "1"
}

// fields returns the fields of /proc/PID/stat, numbered as in proc_pid_stat(5), or nil if there is
// no such process.
func fields(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return append([]string{"", "", ""},
		strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))...)
}

// Environments returns the environments of the processes by pid, as far as this user may see them,
// with a NUL before and after each variable. Zombies, kernel threads, and processes whose main
// thread has exited have none.
func Environments() map[int]string {
	all := make(map[int]string)
	room := make([]byte, 1<<18)
	dirs, _ := filepath.Glob("/proc/[0-9]*")

	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if given := environment(pid, room); given != "" {
			all[pid] = "\x00" + given + "\x00"
		}
	}

	return all
}

// environment waits for the end of an execve, until which a process shows nothing. The environment
// must fit into room, because two reads might see two programs.
func environment(pid int, room []byte) string {
	n := 0
	poll.Within(10*time.Second, func() bool {
		file, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return true
		}

		n, _ = file.Read(room)
		file.Close()

		// An execve sets where the environment begins and ends before it sets where the program
		// does.
		field := fields(pid)
		return n > 0 || field == nil || field[23] == "0" || field[26] != "0" &&
			field[50] == field[51]
	})

	return string(room[:max(n, 0)])
}
