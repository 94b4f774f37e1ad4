//go:build unix

package run

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// A stream is an open file, or an end of a pipe. Both ends of a pipe are one file: a reader may be
// the caller of its writer, as in dpl-run -- reader < <(dpl-run -- writer).
type stream struct {
	device, inode uint64
	reads         bool // and does not write
}

// streamOf returns what the descriptor fd of this process is.
func streamOf(fd int) (found stream, ok bool) {
	var s unix.Stat_t
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || unix.Fstat(fd, &s) != nil {
		return found, false
	}
	return stream{uint64(s.Dev), s.Ino, mode&unix.O_ACCMODE == unix.O_RDONLY}, true
}

// streams yields what the process pid has open, and the path of each, where /proc tells it.
func streams(pid int) iter.Seq2[stream, string] {
	return func(yield func(stream, string) bool) {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		fds, _ := process.Numbers(dir)
		for _, fd := range fds {
			link := filepath.Join(dir, strconv.Itoa(fd))
			var s, l unix.Stat_t
			path, err := os.Readlink(link)
			if err != nil || unix.Stat(link, &s) != nil || unix.Lstat(link, &l) != nil {
				continue
			}
			// The mode of the link is that of the open file.
			if !yield(stream{uint64(s.Dev), s.Ino, l.Mode&unix.S_IWUSR == 0}, path) {
				return
			}
		}
	}
}

// stillWriting returns those of pids that can write to this process's descriptor out, if that is
// not negative, or to a file below dir, if that is not "".
func stillWriting(pids []int, out int, dir string) []int {
	to, known := streamOf(out)
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		for s, path := range streams(pid) {
			below := dir != "" && strings.HasPrefix(path, dir+"/")
			if !s.reads && (known && s == to || below) {
				return false
			}
		}
		return true
	})
}

// apart returns those of the descriptors held that none of pids has open.
func apart(held, pids []int) (own []int) {
	var theirs []stream
	for _, pid := range pids {
		for s := range streams(pid) {
			theirs = append(theirs, s)
		}
	}
	for _, fd := range held {
		if s, ok := streamOf(fd); ok && !slices.Contains(theirs, s) {
			own = append(own, fd)
		}
	}
	return own
}

// unread reports whether nobody is at the other end of any of the descriptors held.
func unread(held []int) bool {
	set := make([]unix.PollFd, len(held))
	for i, fd := range held {
		set[i].Fd = int32(fd)
	}
	if _, err := unix.Poll(set, 0); err != nil {
		return false
	}
	return !slices.ContainsFunc(set,
		func(p unix.PollFd) bool { return p.Revents&(unix.POLLERR|unix.POLLHUP) == 0 })
}
