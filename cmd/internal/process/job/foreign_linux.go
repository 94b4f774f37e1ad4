package job

import (
	"os"
	"sync"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// foreign has the children that this process already had when it began, such as the helpers of a
// shell that has replaced itself by it (exec). They, and all that they start, are no part of a job:
// they are never signalled, waited for or named. Only those that have ended are reaped.
var foreign struct {
	any bool // there was one: set before any job starts

	mu     sync.Mutex
	pids   map[int]bool // those that are not reaped, so that no other process has their pids
	marked map[int]bool // adopted processes that belong to a job, likewise
}

// findForeign notes the foreign children. It is called before this process has started any.
func findForeign() {
	for {
		switch pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil); {
		case pid > 0, err == unix.EINTR: // that one has ended
			continue
		case err != nil: // ECHILD, nearly always
			return
		}
		break
	}

	own := os.Getpid()
	foreign.any, foreign.pids, foreign.marked = true, make(map[int]bool), make(map[int]bool)
	for _, pid := range process.ChildrenOf(own, own) {
		foreign.pids[pid] = true
	}
}

// isForeign reports whether pid, a child of this process, is foreign.
func isForeign(pid int) bool {
	if !foreign.any {
		return false
	}
	foreign.mu.Lock()
	defer foreign.mu.Unlock()
	return foreign.pids[pid]
}

// noteMarked notes that pid, a child of this process, belongs to a job.
func noteMarked(pid int) {
	foreign.mu.Lock()
	defer foreign.mu.Unlock()
	foreign.marked[pid] = true
}

// reaped forgets pid, which another process may have from now on. It reports whether pid belonged
// to a job as far as is known.
func reaped(pid int) (ours bool) {
	if !foreign.any {
		return true
	}
	foreign.mu.Lock()
	defer foreign.mu.Unlock()
	ours = foreign.marked[pid]
	delete(foreign.pids, pid)
	delete(foreign.marked, pid)
	return ours
}
