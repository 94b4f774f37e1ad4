package process

import (
	"math"
	"math/bits"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// A pidfd is a handle on one process.
type pidfd int

// openPIDFD opens a handle on the process that has pid now, or returns the error of pidfd_open(2).
// It makes raw system calls, like read.
func openPIDFD(pid int) (pidfd, error) {
	fd, _, failed := unix.RawSyscall(unix.SYS_PIDFD_OPEN, uintptr(pid), 0, 0)
	if failed != 0 {
		return -1, failed
	}
	return pidfd(fd), nil
}

func (fd pidfd) close() { unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// inode returns the inode number of fd, or 0 if that is unknown.
func (fd pidfd) inode() int64 {
	var s unix.Stat_t
	if unix.Fstat(int(fd), &s) != nil || s.Ino > math.MaxInt64 {
		return 0
	}
	return int64(s.Ino)
}

// unique reports whether no other process of this boot has the inode number of fd. Before Linux 6.9
// all have the same, and 32 bits are too few.
func (fd pidfd) unique() bool {
	var s unix.Statfs_t
	return bits.UintSize == 64 && unix.Fstatfs(int(fd), &s) == nil &&
		int64(s.Type) == unix.PID_FS_MAGIC
}

// lookByInode returns the presence of p by the inode that was recorded, or Unseen if that does not
// tell: because a thread has the pid, system calls are filtered, or descriptors have run out.
func lookByInode(p observe.Process) observe.Presence {
	fd, err := openPIDFD(p.PID)
	if err != nil {
		if err == unix.ESRCH {
			return observe.Gone
		}
		return observe.Unseen
	}
	defer fd.close()

	found := fd.inode()
	switch {
	case found == p.PidfdInode && !ended(uintptr(fd)):
		return observe.Present
	case found == 0, !fd.unique():
		return observe.Unseen
	}
	return observe.Gone
}
