//go:build linux

package faults

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// shared has the commands without edits, for all tests.
var shared struct {
	once sync.Once
	bin  string
}

// plain returns the directory of the commands without edits, which the first to call it builds.
func plain(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() {
		bin, err := os.MkdirTemp("", "dpl-faults")
		if err != nil {
			t.Fatal(err)
		}
		buildCommands(t, bin, nil)
		shared.bin = bin
	})

	if shared.bin == "" {
		t.Fatal("the commands could not be built")
	}
	return shared.bin
}

// ahead is the source of an init function of each program that makes useless calls if aheadVariable
// is set, so that the following calls of main have higher numbers than those of any other thread.
// See onThreads.
const ahead = `package main

import (
	"os"
	"runtime"
	"syscall"
)

func init() {
	runtime.LockOSThread()
	if os.Getenv("` + aheadVariable + `") == "" {
		return
	}
	for range 64 {
		syscall.Open("", syscall.O_RDONLY, 0)
		syscall.Read(-1, make([]byte, 1))
		syscall.Close(-1)
	}
}
`

const aheadVariable = "DPL_FAULTS_AHEAD"

// commands builds the commands with edits of files of the module, and one more file in each, which
// keeps main on one thread. That does not change what they do. But strace counts calls by thread,
// and on a busy machine the runtime of Go would move main so often that calls are hard to hit.
func commands(t *testing.T, edits map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	buildCommands(t, bin, edits)
	return bin
}

func buildCommands(t *testing.T, bin string, edits map[string]string) {
	t.Helper()
	const survivors = "cmd/internal/process/survivors_linux.go"
	texts := map[string]string{
		survivors: onThreads(t, filepath.Join(root, survivors)),
		"cmd/internal/process/start/kept_linux.go": keepsNothing,
	}
	for _, program := range build.Programs() {
		texts[filepath.Join("cmd", program, "pinned.go")] = ahead
	}
	maps.Copy(texts, edits)

	overlay, err := build.Overlay(t.TempDir(), root, texts)
	if err == nil {
		err = build.CommandsIn(bin, root, overlay)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// onThreads returns the source at path, of survivor, changed to look at each process on a thread of
// its own. The number of its calls depends on the rest of the machine, and strace counts by thread.
// No such thread makes as many calls as main has made before (see ahead), so a fault for main
// cannot hit one.
func onThreads(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	const name, renamed = "func (s *search) survivor(", "func (s *search) survivorOnThisThread("
	text := strings.Replace(string(source), name, renamed, 1)
	if text == string(source) {
		t.Fatalf("%s has no %s", path, name)
	}

	text = strings.Replace(text, "import (", "import (\n\t\"runtime\"", 1)

	return text + `
func (s *search) survivor(pid int) (p observe.Process, is bool, doubt error) {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		p, is, doubt = s.survivorOnThisThread(pid)
		close(done)
	}()
	<-done
	return p, is, doubt
}
`
}

// keepsNothing does not search /proc for keepers, which takes as many calls as there are processes
// on the machine: no call would have the same number twice.
const keepsNothing = `package start

// Kept returns nothing.
func Kept(dir string) map[string]int { return nil }
`
