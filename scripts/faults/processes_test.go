//go:build linux

package faults

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// working returns the processes that work on the ledger.
func (w *world) working() []int { return slices.Sorted(maps.Keys(proc.Below(w.base))) }

// keepers returns the keepers of services. Only their arguments tell the ledger.
func (w *world) keepers() (pids []int) {
	named, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range named {
		argv, _ := os.ReadFile(file)
		if strings.Contains(string(argv), "\x00"+w.ledger()+"/exits/") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// waits reports whether a process waits for another one's flock, according to the kernel's public
// list.
func waits(pid int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(locks)) {
		fields := strings.Fields(line) // like 7: -> FLOCK ADVISORY WRITE 4711 ...
		if len(fields) > 5 && fields[1] == "->" && fields[2] == "FLOCK" &&
			fields[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}
