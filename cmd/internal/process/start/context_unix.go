//go:build unix

package start

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// set gives this process what x has. The caller has locked the thread, which has a nice value of its
// own. A value that this process may not set is a shortage: another pass may.
func (x Context) set() error {
	if x.Umask != nil {
		unix.Umask(*x.Umask)
	}
	if x.NofileSoft != nil && x.NofileHard != nil {
		// Not by package unix: syscall would set the limit of this process's parent before exec.
		limit := syscall.Rlimit{Cur: uint64(*x.NofileSoft), Max: uint64(*x.NofileHard)}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return shortage{fmt.Errorf("limit of open files %d:%d: %w", limit.Cur, limit.Max, err)}
		}
	}
	if x.Nice != nil {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, *x.Nice); err != nil {
			return shortage{fmt.Errorf("nice %d: %w", *x.Nice, err)}
		}
	}
	if x.OOMScoreAdj != nil {
		if err := setOOMScoreAdj(*x.OOMScoreAdj); err != nil {
			return shortage{fmt.Errorf("oom_score_adj %d: %w", *x.OOMScoreAdj, err)}
		}
	}
	return nil
}
