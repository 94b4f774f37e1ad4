//go:build unix

package start

import (
	"fmt"
	"syscall"

	"github.com/dpl-project/dpl/protocol/group"
	"golang.org/x/sys/unix"
)

// enter gives this process what x has. The caller has locked the thread, which has a nice value of
// its own. A value that this process may not set is a shortage: another pass may.
func enter(x group.Context) error {
	if x.Umask.Set {
		unix.Umask(x.Umask.N)
	}
	if x.NofileSoft.Set && x.NofileHard.Set {
		// Not by package unix: exec would set the limit again that this process was started with.
		limit := syscall.Rlimit{Cur: uint64(x.NofileSoft.N), Max: uint64(x.NofileHard.N)}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return shortage{fmt.Errorf("set the limit of open files to %d:%d: %w", limit.Cur,
				limit.Max, err)}
		}
	}
	if x.Nice.Set {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, x.Nice.N); err != nil {
			return shortage{fmt.Errorf("set nice to %d: %w", x.Nice.N, err)}
		}
	}
	if x.OOMScoreAdj.Set {
		if err := setOOMScoreAdj(x.OOMScoreAdj.N); err != nil {
			return shortage{fmt.Errorf("set oom_score_adj to %d: %w", x.OOMScoreAdj.N, err)}
		}
	}
	return nil
}
