//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// environments returns the environments of the processes that work on a ledger below dir, by pid, with a NUL before and
// after each variable.
func environments(dir string) map[int]string {
	all := make(map[int]string)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(proc))
		data, err := os.ReadFile(filepath.Join(proc, "environ"))
		if environ := "\x00" + string(data) + "\x00"; err == nil && strings.Contains(environ, "\x00DPL_LEDGER="+dir+"/") && pid != os.Getpid() {
			all[pid] = environ
		}
	}
	return all
}

// endAll kills all processes that work on a ledger below dir: what passes have started outlives everybody.
func endAll(dir string) {
	for quiet := 0; quiet < 3; time.Sleep(time.Millisecond) {
		quiet++
		for pid := range environments(dir) {
			syscall.Kill(pid, syscall.SIGKILL)
			quiet = 0
		}
	}
}

// startTicks returns when a process started, and whether it lives: zombies do not.
func startTicks(pid int) (ticks int64, alive bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	ticks, _ = strconv.ParseInt(fields[19], 10, 64)
	return ticks, fields[0] != "Z" && fields[0] != "X"
}

// waits reports whether a process waits for somebody else's flock, as the kernel tells everybody.
func waits(pid int) bool {
	return slices.ContainsFunc(flocks(), func(l flock) bool { return l.waits && l.pid == pid })
}

// asks reports whether a process has a file open that another one has locked: if it goes on so, it asks again and again.
func asks(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(flocks(), func(l flock) bool {
		return !l.waits && l.pid != pid && slices.ContainsFunc(files, func(file string) bool {
			var st syscall.Stat_t
			return syscall.Stat(file, &st) == nil && st.Ino == l.inode
		})
	})
}

// A flock is what a process has, or waits for.
type flock struct {
	pid   int
	inode uint64
	waits bool
}

func flocks() (all []flock) {
	text, _ := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(text)) {
		var l flock
		fields := strings.Fields(line) // like 7: -> FLOCK ADVISORY WRITE 4711 08:01:815 ...
		if l.waits = len(fields) > 1 && fields[1] == "->"; l.waits {
			fields = slices.Delete(fields, 1, 2)
		}
		if len(fields) > 5 && fields[1] == "FLOCK" {
			l.pid, _ = strconv.Atoi(fields[4])
			_, inode, _ := strings.Cut(fields[5][strings.Index(fields[5], ":")+1:], ":")
			l.inode, _ = strconv.ParseUint(inode, 10, 64)
			all = append(all, l)
		}
	}
	return all
}
