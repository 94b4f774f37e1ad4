//go:build unix

package run

import (
	"os"
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
