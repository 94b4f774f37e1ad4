// Package proc tells tests which processes have ended, from /proc and in words of its own: what the commands think of it is what
// is tested.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// StartTicks returns when a process started, in ticks of the clock since the boot, and whether it lives. A zombie does not, unless
// it is only the main thread of a process whose others still run: then nothing that the process holds is free yet.
func StartTicks(pid int) (ticks int64, alive bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from field 3 of proc_pid_stat(5) on
	state, threads := fields[0], fields[17]
	ticks, _ = strconv.ParseInt(fields[19], 10, 64)
	return ticks, state != "Z" && state != "X" || threads != "0" && threads != "1"
}
