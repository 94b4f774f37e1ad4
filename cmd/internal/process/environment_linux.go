package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// execPatience is for how long a look at all processes asks those again that are amid execve, in all; see carries.
const execPatience = time.Second

// carries reports whether the environment that pid was given has all entries of env. In a part of an execve the kernel
// shows none; so it asks again, until pid shows one or has ended, or the time until is over. But it asks a hundred times at
// least: on a machine that is busy enough, the time may be over at the second.
func carries(pid int, env []string, until time.Time) bool {
	for looks := 1; ; looks++ {
		environment, certain := shownEnvironment(pid)
		if certain || Exited(pid, 0) || looks >= 100 && time.Now().After(until) {
			return containsAll(environment, env)
		}
		time.Sleep(time.Millisecond)
	}
}

// containsAll reports whether environment, entries with a NUL after each, has all of env.
func containsAll(environment []byte, env []string) bool {
	environment = append(append([]byte{0}, environment...), 0)
	for _, entry := range env {
		if !bytes.Contains(environment, []byte("\x00"+entry+"\x00")) {
			return false
		}
	}
	return true
}

// shownEnvironment returns the environment that the kernel shows for pid now, and whether it is to be believed. It is
// that of any thread, for one that has exited, even the main thread, shows none.
func shownEnvironment(pid int) (content []byte, certain bool) {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
	for _, thread := range threads {
		content, err := readWhole(thread + "/environ")
		if len(content) > 0 || errors.Is(err, fs.ErrPermission) {
			return content, true
		}
		if noneGiven(thread) {
			return nil, true
		}
	}
	return nil, false
}

// noneGiven reports whether the environment of a thread is empty for certain. An execve first sets the addresses of its
// beginning and end both to the beginning, then its end, and then the address of the program.
func noneGiven(thread string) bool {
	var buf [2048]byte // 52 fields are shorter than 1200 bytes
	line := read(thread+"/stat", buf[:])
	fields := line[bytes.LastIndexByte(line, ')')+1:]
	program := field(fields, 26)
	return len(program) > 0 && string(program) != "0" && bytes.Equal(field(fields, 50), field(fields, 51))
}

// readWhole returns what is in the file at path by one read, for between two the process may call execve: the second
// would then end the file where the first did.
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
