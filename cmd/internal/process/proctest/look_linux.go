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

// MustBeReaped fails the test unless nobody has the number of the process, not even a zombie.
func MustBeReaped(t *testing.T, pid int) {
	t.Helper()
	poll.Until(t, "no process "+strconv.Itoa(pid), func() bool {
		return unix.Kill(pid, 0) == unix.ESRCH
	})
}

// StatLine returns what /proc says of the state of pid.
func StatLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(line)
}

// InState reports whether pid is in one of states, each a letter.
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

// Descriptors returns the descriptors of pid, sorted as texts.
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

// OfThreads are the signals 32 and 33, which a program that posix_spawn(3) started, as make's are,
// ignores. They are glibc's own, and it sets them anew.
const OfThreads = 1<<(32-1) | 1<<(33-1)

// AsNobody returns what starts a process of another user. It needs root.
func AsNobody(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	strict.Root(t)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
