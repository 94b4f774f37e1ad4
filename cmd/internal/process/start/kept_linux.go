package start

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
)

// Kept returns what living keepers of this user keep: by the name of the exit record in the
// directory dir that they were given, the pid of a process of that start. A keeper that has no
// child is about to end, and keeps nothing; nor does one whose child is still the stage, which dies
// with its pass. It reads the command line of each process.
func Kept(dir string) map[string]int {
	kept := make(map[string]int)
	pids, _ := process.Numbers("/proc")
	for _, pid := range pids {
		proc := "/proc/" + strconv.Itoa(pid)
		argv := arguments(pid)
		record := argv[len(argv)-1]
		if argv[0] != startKeeperName || filepath.Dir(record) != dir || !isOurs(proc) {
			continue
		}

		children, _ := os.ReadFile(proc + "/task/" + strconv.Itoa(pid) + "/children")
		for child := range strings.FieldsSeq(string(children)) {
			n, err := strconv.Atoi(child)
			if err != nil || process.Exited(n, 0) {
				continue
			}
			switch argv := arguments(n); {
			case argv[0] == "", argv[0] == startKeeperName: // it ends, or has just been forked
				continue
			case len(argv) > 1 && argv[1] == stageFlag:
				continue
			}
			kept[filepath.Base(record)] = n
			break
		}
	}
	return kept
}

// arguments returns the command line of a process, which has at least one word.
func arguments(pid int) []string {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// isOurs reports whether the process whose directory is proc runs as this user: anybody else may
// give a process whatever arguments.
func isOurs(proc string) bool {
	var st syscall.Stat_t
	return syscall.Stat(proc, &st) == nil && int(st.Uid) == os.Geteuid()
}
