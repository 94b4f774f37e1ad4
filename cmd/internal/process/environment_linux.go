package process

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// execPatience limits how long one search of all processes retries those that are in the middle of
// an execve (see givenEnvironment).
const execPatience = time.Second

// An environment has the entries that a process was given, with a NUL before each.
type environment string

// value returns the value of the first entry called name, and whether there is one.
func (e environment) value(name string) (value string, found bool) {
	_, rest, found := strings.Cut(string(e), "\x00"+name+"=")
	value, _, _ = strings.Cut(rest, "\x00")
	return value, found
}

// carries reports whether pid was given the id in the variable called name, and whether that is
// certain (see givenEnvironment).
func carries(pid int, name, id string, until time.Time) (carried, certain bool) {
	given, certain := givenEnvironment(pid, until)
	ids, _ := given.value(name)
	return listsID(ids, id), certain
}

// listsID reports whether ids, which are separated by commas, include id.
func listsID(ids, id string) bool {
	return slices.Contains(strings.Split(ids, ","), id)
}

// givenEnvironment returns the environment that pid was given, and whether that is certain. It is
// empty, and certain, if pid has ended. During part of an execve, which may wait for a slow disk,
// the kernel shows no environment; givenEnvironment then asks again, until the time until.
func givenEnvironment(pid int, until time.Time) (given environment, certain bool) {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		content, certain := shownEnvironment(pid)
		switch {
		case certain:
			return environment("\x00" + string(content)), true
		case Exited(pid, 0):
			return "", true
		case time.Now().After(until):
			return "", false
		}

		time.Sleep(pause)
	}
}

// shownEnvironment returns the environment that the kernel shows for pid now, and whether it can be
// trusted. If the main thread shows none, it reads thread by thread, because one that has exited
// shows none. If this process may not read it, the environment is certainly not ours, which is no
// evidence of anything.
func shownEnvironment(pid int) (content []byte, certain bool) {
	process := "/proc/" + strconv.Itoa(pid)
	if content := readWhole(process + "/environ"); len(content) > 0 {
		return content, true
	}

	dir := process + "/task"
	threads, err := Numbers(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil, true
	}

	for _, id := range threads {
		thread := dir + "/" + strconv.Itoa(id)
		if content := readWhole(thread + "/environ"); len(content) > 0 {
			return content, true
		}
		if noneGiven(thread) {
			return nil, true
		}
	}

	return nil, false
}

// noneGiven reports whether the environment of a thread is certainly empty, or hidden from us.
//
// An execve first sets the start and end addresses of the environment to its start, then the end,
// and then the address of the program. A process without permission sees 0, 0 and 1 instead. For a
// thread that is about to end everyone sees 0, and the file of its environment belongs to root. A
// kernel thread always looks like that; a flag tells it apart.
func noneGiven(thread string) bool {
	const ofTheKernel = 0x200000 // PF_KTHREAD, which execve clears
	var buf [2048]byte           // 52 fields are shorter than 1200 bytes
	line := read(thread+"/stat", buf[:])
	fields := line[bytes.LastIndexByte(line, ')')+1:]
	flags, err := strconv.ParseUint(string(field(fields, 9)), 10, 32)
	if err == nil && flags&ofTheKernel != 0 {
		return true
	}

	program, begin, end := field(fields, 26), field(fields, 50), field(fields, 51)

	return len(program) > 0 && string(program) != "0" && bytes.Equal(begin, end)
}

// readWhole returns the content of the file at path in a single read, or nothing on an error. If
// the process called execve between two reads, the second would end where the first did. Package os
// would register each file with the poller, and a search reads those of all processes.
func readWhole(path string) []byte {
	for size := 8 << 10; ; size *= 4 {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil
		}

		content := make([]byte, size)
		n, _ := unix.Read(fd, content) // -1 on an error
		unix.Close(fd)
		if n < size {
			return content[:max(n, 0)]
		}
	}
}

// IsKeeper reports whether pid is a keeper, of any start or job.
func IsKeeper(pid int) bool {
	given, _ := givenEnvironment(pid, time.Now().Add(execPatience))
	_, is := given.value(KeeperVariable)
	return is
}

// IsMarked reports whether pid was given id in StartVariable.
func IsMarked(pid int, id string) bool {
	marked, _ := carries(pid, StartVariable, id, time.Now().Add(execPatience))
	return marked
}
