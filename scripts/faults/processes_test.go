//go:build linux

package faults

import (
	"os"
	"path/filepath"
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

// waits reports whether a process waits for somebody else's flock, as the kernel tells everybody.
func waits(pid int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(locks)) {
		fields := strings.Fields(line) // like 7: -> FLOCK ADVISORY WRITE 4711 ...
		if len(fields) > 5 && fields[1] == "->" && fields[2] == "FLOCK" && fields[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}
