//go:build linux

package faults

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// environments returns the environments of the processes that work on a ledger below dir, by pid, with a NUL before and
// after each variable.
func environments(dir string) map[int]string {
	all := proc.Environments()
	maps.DeleteFunc(all, func(pid int, environ string) bool {
		return pid == os.Getpid() || !strings.Contains(environ, "\x00DPL_LEDGER="+dir+"/")
	})
	return all
}

// working returns the processes that work on the ledger.
func (w *world) working() []int { return slices.Sorted(maps.Keys(environments(w.base))) }

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
