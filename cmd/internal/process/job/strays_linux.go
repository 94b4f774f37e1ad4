package job

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// adopting is set once orphans below this process become its children.
var adopting atomic.Bool

// Adopt makes this process the parent of orphans among its descendants from now on, so that a Job
// finds processes that have left its group. Call it before Start. It does nothing if /proc does not
// show children.
func Adopt() {
	own := os.Getpid()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d/children", own, own)); err != nil {
		return // nothing would find the orphans, or wait for those that have ended
	}
	adopting.Store(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil)
}

// Strays returns the pids of processes, such as daemons, that have left the group of the job and
// outlived their parents in it, and of their descendants, without zombies, in ascending order. It
// finds them in any session and with any environment. Keepers and their descendants are not strays:
// a service belongs to its own start, not to the command in which a pass ran.
//
// If this process had children when it began, these and what they have started may be orphans as
// well. Then an orphan is a stray only if it has the mark of the job in the environment that it was
// given, or descends from such a process.
//
// It returns none before the leader has ended, if this process does not adopt, or without /proc.
func (j *Job) Strays() []int {
	if !closed(j.ended) {
		return nil
	}
	return j.orphans()
}

// orphans returns the adopted processes that are not in the group, with their descendants, and
// waits for those that have ended.
func (j *Job) orphans() (pids []int) {
	if !adopting.Load() {
		return nil
	}

	// Orphans become children of the main thread. We fork from other threads, but the main thread
	// may have the keeper as a child.
	own := os.Getpid()
	for _, pid := range process.ChildrenOf(own, own) {
		if pid == j.pid || pid == j.keeper.number() {
			continue
		}

		if process.Exited(pid, 0) {
			var status syscall.WaitStatus
			waited, err := syscall.Wait4(pid, &status, unix.WNOHANG, nil)
			if waited == pid && err == nil && reaped(pid) {
				end := endOf(status)
				j.strayEnd.Store(&end)
			}
			continue
		}

		if !isForeign(pid) {
			pids = append(pids, j.tree(pid, !foreign.any)...)
		}
	}

	slices.Sort(pids)
	return pids
}

// StrayEnd returns how the last stray that was our child ended. ok is false if there was none.
func (j *Job) StrayEnd() (how End, ok bool) {
	if end := j.strayEnd.Load(); end != nil {
		return *end, true
	}
	return End{}, false
}

// tree returns pid and its descendants, without members of the group, and without keepers and their
// descendants. If ours is false, it returns only those with the mark of the job, and the descendants
// of these.
func (j *Job) tree(pid int, ours bool) (pids []int) {
	if process.IsKeeper(pid) {
		return nil
	}
	if !ours {
		if ours = process.IsMarked(pid, j.keeper.id); ours {
			noteMarked(pid)
		}
	}
	if group, err := unix.Getpgid(pid); err == nil && ours && group != j.pid &&
		!process.Exited(pid, 0) {
		pids = append(pids, pid)
	}

	threads, _ := process.Numbers(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		for _, child := range process.ChildrenOf(pid, thread) {
			pids = append(pids, j.tree(child, ours)...)
		}
	}

	return pids
}

// signalStrays sends sig to the strays, and reports whether there was one. It opens a handle on
// each and checks again that it is a stray.
func (j *Job) signalStrays(sig syscall.Signal) (any bool) {
	handles := make(map[int]*process.Watched)
	for _, pid := range j.Strays() {
		if w, err := process.Watch(pid); err == nil {
			defer w.Close()
			handles[pid] = w
		}
	}

	if len(handles) == 0 {
		return false
	}

	for _, pid := range j.Strays() {
		if w := handles[pid]; w != nil && w.Signal(sig) == nil {
			any = true
		}
	}

	return any
}
