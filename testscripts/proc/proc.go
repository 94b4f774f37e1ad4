// Package proc tells tests which processes exist and which have ended. It reads /proc itself,
// because the commands' own view is under test.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// PIDs returns the numbers of all processes, in order.
func PIDs() (all []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// With returns the living processes that have all these variables, such as A=1, in the environment
// that they were given, in order.
func With(variables ...string) (all []int) {
	for pid, given := range Environments() {
		if _, alive := StartTicks(pid); alive && has(given, variables) {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// Has reports whether the process pid has all these variables in the environment that it was given.
func Has(pid int, variables ...string) bool {
	return has("\x00"+environment(pid, make([]byte, 1<<18))+"\x00", variables)
}

func has(environment string, variables []string) bool {
	lacks := func(v string) bool { return !strings.Contains(environment, "\x00"+v+"\x00") }
	return !slices.ContainsFunc(variables, lacks)
}

// Signal sends a signal to the process pid, if is reports that it is the one that is meant, and
// reports whether it did. A process that gets the number of one that has ended gets no signal.
func Signal(pid int, sig os.Signal, is func(pid int) bool) bool {
	if pid <= 1 {
		return false
	}
	p, err := os.FindProcess(pid) // a pidfd: from now on the number does not matter
	if err != nil {
		return false
	}
	defer p.Release()
	return is(pid) && p.Signal(sig) == nil
}

// Environments returns the environments of the processes by pid, as far as this user may see them,
// with a NUL before and after each variable. Zombies, kernel threads, and processes whose main
// thread has exited have none.
func Environments() map[int]string {
	all := make(map[int]string)
	room := make([]byte, 1<<18)

	for _, pid := range PIDs() {
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
