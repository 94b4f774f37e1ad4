//go:build unix

package proc

import (
	"maps"
	"os"
	"strings"
	"syscall"
	"time"
)

// Below returns the environments, as Environments does, of the other processes that have a ledger
// below dir in theirs.
func Below(dir string) map[int]string {
	all := Environments()
	maps.DeleteFunc(all, func(pid int, environ string) bool {
		return pid == os.Getpid() || !strings.Contains(environ, "\x00DPL_LEDGER="+dir+"/")
	})
	return all
}

// EndAll kills all processes that belong to a ledger below dir, because processes started by passes
// live on in sessions of their own. It stops them first, as a power cut does: none sees how another
// dies, and says so. It looks again, since they may have just started others.
func EndAll(dir string) {
	for quiet := 0; quiet < 3; time.Sleep(time.Millisecond) {
		quiet++
		all := Below(dir)
		for pid := range all {
			syscall.Kill(pid, syscall.SIGSTOP)
		}
		for pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
			quiet = 0
		}
	}
}
