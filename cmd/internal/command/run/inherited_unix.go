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
		if s, ok := streamOf(fd); ok && !slices.Contains(theirs, s) {
			own = append(own, fd)
		}
	}
	return own
}

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

// stillWriting returns those of pids that can write to this process's descriptor out, if that is not
// negative, or to a file below dir, if that is not "".
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

// theirs returns what the calling dpl-runs have open.
func (h *hold) theirs() (all []stream) {
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
		for s := range streams(f.PID) {
			all = append(all, s)
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
