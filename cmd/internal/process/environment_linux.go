package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// execPatience limits how long one search of all processes retries those that are in the middle of
// an execve (see carries).
const execPatience = time.Second

// carries reports whether pid was given an environment with all entries of env (see containsAll),
// and whether that is certain. During part of an execve, which may wait for a slow disk, the kernel
// shows no environment; carries then asks again, until the time until.
func carries(pid int, env []string, until time.Time) (carried, certain bool) {
	environment, certain := givenEnvironment(pid, until)
	return certain && containsAll(environment, env), certain
}

// givenEnvironment returns the environment that pid was given, with a NUL after each entry, and
// whether that is certain (see carries). It is empty, and certain, if pid has ended.
func givenEnvironment(pid int, until time.Time) (environment []byte, certain bool) {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		environment, certain := shownEnvironment(pid)
		switch {
		case certain:
			return environment, true
		case Exited(pid, 0):
			return nil, true
		case time.Now().After(until):
			return nil, false
		}

		time.Sleep(pause)
	}
}

// containsAll reports whether environment, with a NUL after each entry, has all of env. A
// StartVariable in env matches one that has at least the same ids.
func containsAll(environment []byte, env []string) bool {
	environment = append(append([]byte{0}, environment...), 0)
	for _, entry := range env {
		if starts, ok := strings.CutPrefix(entry, StartVariable+"="); ok {
			if !belongsToAll(environment, starts) {
				return false
			}
		} else if !bytes.Contains(environment, []byte("\x00"+entry+"\x00")) {
			return false
		}
	}

	return true
}

// belongsToAll reports whether environment, with a NUL before and after each entry, has a
// StartVariable with all of the ids in starts.
func belongsToAll(environment []byte, starts string) bool {
	_, rest, _ := bytes.Cut(environment, []byte("\x00"+StartVariable+"="))
	value, _, found := bytes.Cut(rest, []byte{0})
	ids := strings.Split(string(value), ",")
	for id := range strings.SplitSeq(starts, ",") {
		found = found && slices.Contains(ids, id)
	}
	return found
}

// shownEnvironment returns the environment that the kernel shows for pid now, and whether it can be
// trusted. It reads thread by thread, because a thread that has exited, even the main thread, shows
// none. If this process may not read it, the environment is certainly not ours, which is no
// evidence of anything.
func shownEnvironment(pid int) (content []byte, certain bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil, true
	}

	for _, t := range threads {
		thread := filepath.Join(dir, t.Name())
		if content, _ := readWhole(thread + "/environ"); len(content) > 0 {
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

// readWhole returns the content of the file at path in a single read. If the process called execve
// between two reads, the second would end where the first did.
func readWhole(path string) ([]byte, error) {
	for size := 1 << 16; ; size *= 2 {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}

		content := make([]byte, size)
		n, err := f.Read(content)
		f.Close()
		if n < size {
			return content[:n], err
		}
	}
}

// IsKeeper reports whether pid is a keeper, of any start or job.
func IsKeeper(pid int) bool {
	environment, _ := givenEnvironment(pid, time.Now().Add(execPatience))
	return ofKeeper(append([]byte{0}, environment...))
}
