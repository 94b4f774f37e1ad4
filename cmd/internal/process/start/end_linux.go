package start

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
	"golang.org/x/sys/unix"
)

// endFlag is the first argument of a keeper whose stage has ended. The second is 1 if it got TERM
// or HUP before, and 0 otherwise; the third is the path of the exit record. The keeper of package
// entry becomes this program then, with the same pid and the same children; until then it needs no
// runtime. A TERM that comes before the runtime ignores it ends the keeper. Then nobody knows how
// the process has ended.
const endFlag = "--dpl-end"

// end completes the exit record at path, and goes on as the keeper of what the command has left.
// The process that has ended is still a zombie.
func end(signalled, path string) {
	told := signals()
	nameKeeper()
	leave(recordEnd(path, signalled == "1"), told)
}

// leave waits until this keeper has no child, and ends this process. After an end that is recorded,
// it does what follows it, unless it is told to end.
func leave(recorded bool, told func() bool) {
	if recorded {
		followEnd(told)
	} else {
		reapAll()
	}
	syscall.Exit(0)
}

// recordEnd writes how the process of the record at path has ended:
//
//	pwrite; fsync      a power cut loses nothing any more
//	the finish command, if there is one; pwrite; fsync
//	rename; fsync      the record is complete
//
// The caller reaps the process after that, so that its pid is no other's in the meantime. Without a
// record, or if something fails, nobody knows how it ended. recordEnd reports whether the record is
// complete, and this keeper was not told to end.
func recordEnd(path string, signalled bool) (recorded bool) {
	r, err := openRecord(path)
	if err != nil {
		return false
	}
	defer r.close()

	switch r.Phase {
	case group.PhaseReserved: // the gate was closed, and nothing has run
		unix.Unlinkat(r.dir, r.name, 0)
		return false
	case group.PhaseExec:
		exit, err := exitOf(r.PID)
		if err != nil {
			return false
		}
		r.Phase, r.End, r.KeeperSignalled = group.PhaseEnded, exit, signalled
		if r.write() != nil {
			return false
		}
		if r.finish(path) != nil {
			return false
		}
	}

	return r.complete() == nil && !signalled
}

// complete makes r durable, and gives it the name of a record to which nothing is added.
func (r *record) complete() error {
	if err := unix.Fsync(r.file); err != nil {
		return err
	}
	complete := filepath.Base(layout.CompleteExit(r.name))
	if err := unix.Renameat(r.dir, r.name, r.dir, complete); err != nil {
		return err
	}
	return unix.Fsync(r.dir)
}

// exitOf returns how the child pid has ended, and leaves it a zombie.
func exitOf(pid int) (policy.Exit, error) {
	// siginfo_t of SIGCHLD
	var info struct {
		signo, errno, code int32
		child              struct {
			_                [0]uintptr // aligned like a pointer
			pid, uid, status int32
		}
		_ [128]byte
	}
	var used unix.Rusage
	const options = unix.WEXITED | unix.WNOWAIT | unix.WNOHANG
	err := unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), options, &used)
	if err == nil && int(info.child.pid) != pid {
		err = unix.ECHILD // it has not ended
	}
	if err != nil {
		return policy.Exit{}, err
	}

	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	exit := policy.Exit{
		At: wire.Moment(time.Now()), Reason: policy.Exited, Code: policy.CodeKilled,
		Status: int(info.child.status), CPU: cpu.Truncate(time.Millisecond), MaxRSS: used.Maxrss,
	}

	const exited, dumped = 1, 3 // CLD_EXITED, CLD_DUMPED
	switch info.code {
	case exited:
		exit.Code = policy.CodeExited
	case dumped:
		exit.Code = policy.CodeDumped
	}

	killed := exit.Code == policy.CodeKilled && exit.Status == int(unix.SIGKILL)
	exit.OOMKilled = killed && os.Getenv(invocation) != "" && shortOfMemory()

	return exit, nil
}

// nameKeeper gives this process the name of a keeper.
func nameKeeper() {
	// Package os would keep a poller.
	fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Write(fd, []byte(startKeeperName))
		unix.Close(fd)
	}
}

// awaitStage reaps children until the stage has ended, and leaves that a zombie.
func awaitStage(stage int) {
	for {
		var info struct {
			_  [3]int32
			in struct {
				_   [0]uintptr
				pid int32
			}
			_ [128]byte
		}
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)),
			unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err != nil || int(info.in.pid) == stage:
			return
		default:
			unix.Wait4(int(info.in.pid), nil, 0, nil)
		}
	}
}

// reapAll waits until this process has no child.
func reapAll() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}
