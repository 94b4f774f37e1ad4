package process

import (
	"bytes"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// clockTick is the unit of times in /proc/PID/stat. The kernel shows them to programs in that unit
// on all architectures that Go supports.
const clockTick = 10 * time.Millisecond

// UsageOnce returns a function that returns what the processes of the start startID have used (spec
// §27.2), and whether leader, its process, could be looked at. These are leader and its
// descendants, and those of keeper, that belong to the start as in Survivors. What a process that
// has ended had used counts if its parent waited for it, and is one of them or keeper.
//
// The function reads the state of all processes only once, when it is first called. It must not be
// called by two goroutines at once.
func UsageOnce() func(leader observe.Process, startID string, keeper observe.Process) (
	observe.Usage, bool,
) {
	var all table
	return func(leader observe.Process, startID string, keeper observe.Process) (
		observe.Usage, bool,
	) {
		if all == nil {
			all = readTable()
		}
		return all.usage(leader, startID, keeper)
	}
}

// A table has a row for each process by its pid.
type table map[int]row

type row struct {
	startTicks int64
	children   []int
	used       time.Duration // CPU time of its own
	waited     time.Duration // CPU time of the children that it waited for
}

func readTable() table {
	all, parents := make(table), make(map[int]int)
	pids, _ := Numbers("/proc")
	for _, pid := range pids {
		if parent, r, ok := readRow(pid); ok {
			all[pid], parents[pid] = r, parent
		}
	}

	for pid, parent := range parents {
		if r, known := all[parent]; known {
			r.children = append(r.children, pid)
			all[parent] = r
		}
	}
	return all
}

func readRow(pid int) (parent int, r row, ok bool) {
	var buf [1024]byte // the fields that matter are in the first 600 bytes
	line := read("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	fields := line[bytes.LastIndexByte(line, ')')+1:]

	number := func(n int) int64 {
		value, err := strconv.ParseInt(string(field(fields, n)), 10, 64)
		ok = ok && err == nil
		return value
	}
	ok = true
	parent = int(number(4))
	r.used = time.Duration(number(14)+number(15)) * clockTick
	r.waited = time.Duration(number(16)+number(17)) * clockTick
	r.startTicks = number(22)
	return parent, r, ok
}

func (t table) usage(leader observe.Process, startID string, keeper observe.Process) (
	u observe.Usage, ok bool,
) {
	first, there := t[leader.PID]
	if !there || first.startTicks != leader.StartTicks || local(leader) != nil {
		return u, false
	}

	s := search{leader: leader, keeper: keeper, id: startID, until: time.Now().Add(execPatience),
		known: make(map[incarnation]membership)}
	pids := t.below(leader.PID, nil)
	if startID != "" {
		s.askKeeper()
	}
	if s.kept {
		u.CPU = t[keeper.PID].waited
		pids = t.below(keeper.PID, nil)[1:]
	}

	for _, pid := range pids {
		if pid != leader.PID && startID != "" && s.membership(pid) != member {
			continue
		}
		u.CPU += t[pid].used + t[pid].waited
		u.MaxRSS = max(u.MaxRSS, peakMemory(pid))
	}
	return u, true
}

// below returns all with pid and its descendants, first pid.
func (t table) below(pid int, all []int) []int {
	all = append(all, pid)
	for _, child := range t[pid].children {
		all = t.below(child, all)
	}
	return all
}

// peakMemory returns the most memory that the process pid had resident, in KiB, or 0 if that is
// unknown.
func peakMemory(pid int) int64 {
	var buf [4096]byte
	status := read("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	peak, _ := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	return peak
}
