//go:build unix

package run

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// inherited returns the descriptors that keep a reader, or a writer, of a pipe waiting: stdin and
// stdout if they are pipes, stdout also if it is a socket, and those from 3 on that write to a pipe
// (spec §15.8). It returns none that make shares with its recipes.
func inherited() (held []int) {
	isPipe := func(fd int, kinds ...uint32) bool {
		var s unix.Stat_t
		return unix.Fstat(fd, &s) == nil && slices.Contains(kinds, uint32(s.Mode)&unix.S_IFMT)
	}
	if isPipe(0, unix.S_IFIFO) {
		held = append(held, 0)
	}
	if isPipe(1, unix.S_IFIFO, unix.S_IFSOCK) {
		held = append(held, 1)
	}

	open, _ := process.Numbers("/proc/self/fd")
	for _, fd := range open {
		if fd < 3 || !isPipe(fd, unix.S_IFIFO) || slices.Contains(jobserver(), fd) {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		mode, modeErr := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 && // otherwise it is one of our own
			modeErr == nil && mode&unix.O_ACCMODE != unix.O_RDONLY {
			held = append(held, fd)
		}
	}
	return held
}

// jobserver returns the descriptors by which make shares its job slots.
func jobserver() (fds []int) {
	for word := range strings.FieldsSeq(os.Getenv("MAKEFLAGS")) {
		name, value, _ := strings.Cut(word, "=")
		if name != "--jobserver-auth" && name != "--jobserver-fds" {
			continue
		}
		for number := range strings.SplitSeq(value, ",") {
			if fd, err := strconv.Atoi(number); err == nil {
				fds = append(fds, fd)
			}
		}
	}
	return fds
}

// own returns the descriptors that no calling dpl-run has: what one has, it keeps open by living.
func (h *hold) own() (own []int) {
	theirs := h.theirs()
	for _, fd := range h.held {
		if id, ok := identity(fd); ok && !slices.Contains(theirs, id) {
			own = append(own, fd)
		}
	}
	return own
}

// A fileID tells a pipe or socket from others.
type fileID struct{ device, inode uint64 }

func identity(fd int) (fileID, bool) {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil {
		return fileID{}, false
	}
	return fileID{uint64(s.Dev), s.Ino}, true
}

// theirs returns what the calling dpl-runs have open.
func (h *hold) theirs() (all []fileID) {
	op, _, err := h.ledger.ReadOperation(h.op)
	if err != nil {
		return nil
	}
	seen := h.observe()
	for _, f := range op.Stack {
		if f.StartID == "" || !slices.Contains(h.callers, f.CallID) || !f.State.Live() ||
			!seen.Checks(f.Vitals) {
			continue
		}
		dir := filepath.Join("/proc", strconv.Itoa(f.PID), "fd")
		fds, _ := process.Numbers(dir)
		for _, fd := range fds {
			var s unix.Stat_t
			if unix.Stat(filepath.Join(dir, strconv.Itoa(fd)), &s) == nil {
				all = append(all, fileID{uint64(s.Dev), s.Ino})
			}
		}
	}
	return all
}

// unread reports whether nobody is at the other end of any descriptor that it holds.
func (h *hold) unread() bool {
	set := make([]unix.PollFd, len(h.held))
	for i, fd := range h.held {
		set[i].Fd = int32(fd)
	}
	if _, err := unix.Poll(set, 0); err != nil {
		return false
	}
	return !slices.ContainsFunc(set,
		func(p unix.PollFd) bool { return p.Revents&(unix.POLLERR|unix.POLLHUP) == 0 })
}
