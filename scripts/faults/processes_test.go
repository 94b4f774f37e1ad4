//go:build linux

package faults

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// working returns the processes that work on the ledger.
func (w *world) working() []int { return slices.Sorted(maps.Keys(proc.Below(w.base))) }

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
