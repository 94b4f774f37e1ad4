package proctest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
	"golang.org/x/sys/unix"
)

// MustBeReaped fails the test unless no process, not even a zombie, has the pid.
func MustBeReaped(t *testing.T, pid int) {
	t.Helper()
	poll.Until(t, "no process "+strconv.Itoa(pid), func() bool {
		return unix.Kill(pid, 0) == unix.ESRCH
	})
}

// StatLine returns the line of /proc/PID/stat.
func StatLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(line)
}

// InState reports whether pid is in one of states, each given as a letter.
func InState(pid int, states string) bool {
	line := StatLine(pid)
	state := strings.TrimPrefix(line[strings.LastIndexByte(line, ')')+1:], " ")
	return state != "" && strings.ContainsRune(states, rune(state[0]))
}

// Lines returns the lines of the file at path once there are n.
func Lines(t *testing.T, path string, n int) []string {
	t.Helper()
	var content []byte
	poll.Until(t, strconv.Itoa(n)+" lines in "+path, func() bool {
		content, _ = os.ReadFile(path)
		return bytes.Count(content, []byte("\n")) >= n
	})
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// Value returns the word after name in the file at path.
func Value(t *testing.T, path, name string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	_, rest, _ := strings.Cut(string(content), name)
	words := strings.Fields(rest)
	if len(words) == 0 {
		t.Fatalf("no %q in %s: %s", name, path, content)
	}
	return words[0]
}

// Descriptors returns the descriptors of pid, sorted as strings.
func Descriptors(t *testing.T, pid int) []string {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}

	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}

	slices.Sort(found)
	return found
}

// OfThreads is the set of signals 32 and 33. A program started by posix_spawn(3), as make does,
// ignores them. They are glibc's own, and it sets them anew.
const OfThreads = 1<<(32-1) | 1<<(33-1)

// AsNobody returns the attributes of a process of another user. It needs root.
func AsNobody(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	strict.Root(t)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
