package process

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of orphans among its descendants from now on, and returns a
// function that kills its children, and waits for them, until none is left or patience is over; it
// returns those that are left. So it ends processes in any session, with any environment. It spares
// the keepers of services, which belong to their own start. Call Adopt before anything is started.
//
// A process that has children already, such as the helpers of a shell that has replaced itself by
// it (exec), adopts nothing, because what they leave behind is not its own.
func Adopt() (end func(patience time.Duration) (left []int)) {
	if len(children()) > 0 || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func(time.Duration) []int { return nil }
	}
	return endChildren
}

func endChildren(patience time.Duration) []int {
	for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		orphans := slices.DeleteFunc(children(), IsKeeper)
		for _, pid := range orphans {
			unix.Kill(pid, unix.SIGKILL) // ours until we have waited for it
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if len(orphans) == 0 || time.Now().After(until) {
			return orphans
		}
	}
}

// children returns the children of this process, zombies as well.
func children() (all []int) {
	own := os.Getpid()
	threads, _ := Numbers(fmt.Sprintf("/proc/%d/task", own))
	for _, thread := range threads {
		all = append(all, ChildrenOf(own, thread)...)
	}
	return all
}

// ChildrenOf returns the children of a thread of pid, zombies as well; none if /proc does not show
// them.
func ChildrenOf(pid, thread int) (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, thread))
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
