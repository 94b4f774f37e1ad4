package process

import (
	"os"
	"slices"
	"time"
)

// Carriers returns the pids of the other processes that were given one of ids in variable, in
// ascending order. A process whose environment cannot be read is none of them.
func Carriers(variable string, ids []string) (pids []int) {
	until := time.Now().Add(execPatience)
	all, _ := Numbers("/proc")
	for _, pid := range all {
		if pid == os.Getpid() {
			continue
		}
		given, _ := givenEnvironment(pid, until)
		carried, _ := given.value(variable)
		carries := func(id string) bool { return listsID(carried, id) }
		if slices.ContainsFunc(ids, carries) && !Exited(pid, 0) {
			pids = append(pids, pid)
		}
	}
	return pids
}
