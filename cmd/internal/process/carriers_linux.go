package process

import (
	"os"
	"slices"
	"strings"
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

// Marks returns the ids in StartVariable that pid was given: the one of its own start first, then
// those of the starts that this was part of.
func Marks(pid int) []string {
	given, _ := givenEnvironment(pid, time.Now().Add(execPatience))
	ids, _ := given.value(StartVariable)
	return strings.Split(ids, ",")
}
