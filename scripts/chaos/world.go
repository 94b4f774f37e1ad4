//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// A violation is what did not hold. It ends the scenario as a panic.
type violation string

// A world is a ledger, and all that is done to it. Its processes are known by its directory, which
// is in their environment, in their arguments or where they work; keepers and stages, which have
// nothing of that, by their program.
type world struct {
	ctx    context.Context
	bin    string
	dir    string
	ledger string
	env    []string
	starve bool // Go's runtime may end a program that gets no memory, before it has begun

	mu     sync.Mutex
	choose *rand.Rand
}

const patience = 60 * time.Second

func newWorld(ctx context.Context, bin, dir string, choose *rand.Rand) *world {
	w := &world{ctx: ctx, bin: bin, dir: dir, ledger: filepath.Join(dir, "ledger"), choose: choose}
	tmp := filepath.Join(dir, "tmp")
	w.must(os.Mkdir(tmp, 0o700))
	w.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + tmp,
		"DPL_LEDGER=" + w.ledger, "LC_ALL=C",
	}
	return w
}

func (w *world) fail(format string, arguments ...any) {
	panic(violation(fmt.Sprintf(format, arguments...)))
}

func (w *world) must(err error) {
	if err != nil {
		w.fail("the rig: %v", err)
	}
}

// intn returns a number below n. It is for any goroutine.
func (w *world) intn(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.choose.IntN(n)
}

// A result is how a command ended.
type result struct {
	command        []string
	status         int // 128 + n after signal n
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("%s: exit status %d\n%s%s", strings.Join(r.command, " "), r.status, r.stdout,
		r.stderr)
}

// command returns a command of this world in its directory.
func (w *world) command(words ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, "/usr/bin/env",
		append([]string{"-i"}, append(slices.Clone(w.env), words...)...)...)
	cmd.Dir = w.dir
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a command to its end, at most for a minute, and looks for a crash of the program.
func (w *world) run(words ...string) result {
	return w.finish(w.command(words...), words)
}

func (w *world) finish(cmd *exec.Cmd, words []string) result {
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}

	cmd.Stderr = &stderr
	late := time.AfterFunc(2*patience, func() {
		if cmd.Process != nil {
			cmd.Process.Signal(syscall.SIGABRT) // Go tells where it hangs
		}
	})

	err := cmd.Run()
	r := result{words, 0, stdout.String(), stderr.String()}
	if !late.Stop() {
		w.fail("it hangs: %v", r)
	}

	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ok && exit.Sys().(syscall.WaitStatus).Signaled():
		r.status = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	case ok:
		r.status = exit.ExitCode()
	case err != nil:
		w.fail("the rig: %v: %v", words, err)
	}

	if w.starve && strings.Contains(r.stderr, "fatal error: ") &&
		strings.Contains(r.stderr, "memory") {
		return r
	}

	for _, no := range []string{"panic: ", "\ngoroutine ", "\nruntime stack:"} {
		if strings.Contains(r.stderr, no) {
			w.fail("it crashed: %v", r)
		}
	}

	return r
}

// exits runs a command that may end with these statuses only.
func (w *world) exits(statuses []int, words ...string) result {
	r := w.run(words...)
	if !slices.Contains(statuses, r.status) {
		w.fail("want status %v: %v", statuses, r)
	}
	return r
}

var ok = []int{0}

// until waits for something, at most for patience.
func (w *world) until(what string, is func() bool) {
	if poll.Within(patience, func() bool {
		if w.ctx.Err() != nil {
			w.fail("interrupted")
		}
		return is()
	}) {
		return
	}

	var left []string
	for _, pid := range w.processes() {
		left = append(left, describe(pid))
	}

	w.fail("it did not come to that: %s\nprocesses: %s\nfiles: %s",
		what, strings.Join(left, ", "), strings.Join(w.files(), " "))
}

// processes returns the processes of this world.
func (w *world) processes() []int {
	return slices.DeleteFunc(proc.PIDs(),
		func(pid int) bool { return pid == os.Getpid() || !w.owns(pid) })
}

// owns reports whether a process is of this world.
func (w *world) owns(pid int) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	environment, _ := os.ReadFile(filepath.Join(dir, "environ"))
	words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	at, _ := os.Readlink(filepath.Join(dir, "cwd"))
	program, _ := os.Readlink(filepath.Join(dir, "exe"))
	return bytes.Contains(environment, []byte(w.dir)) || bytes.Contains(words, []byte(w.dir)) ||
		strings.HasPrefix(at, w.dir) || filepath.Dir(program) == w.bin
}

// signal sends a signal to a process of this world, and reports whether it did. It sends none if
// another process has the pid.
func (w *world) signal(pid int, sig syscall.Signal) bool {
	return proc.Signal(pid, sig, w.owns)
}

func describe(pid int) string {
	words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return fmt.Sprintf("%d %q", pid, strings.ReplaceAll(strings.TrimRight(string(words), "\x00"),
		"\x00", " "))
}

// killOne kills one process of this world whose command line contains a word, and reports whether
// there was one.
func (w *world) killOne(word string) bool {
	all := slices.DeleteFunc(w.processes(),
		func(pid int) bool { return !strings.Contains(describe(pid), word) })
	if len(all) == 0 {
		return false
	}
	return w.signal(all[w.intn(len(all))], syscall.SIGKILL)
}

// killAll ends what is left of a world after something did not hold.
func (w *world) killAll() {
	for range 10 {
		pids := w.processes()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			w.signal(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// files returns what is in the ledger, relative to it, without what belongs there for good.
func (w *world) files() (left []string) {
	filepath.WalkDir(w.ledger, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.ledger, path)
		switch dir, _, _ := strings.Cut(name, "/"); {
		case err != nil || name == "." || name == "ledger.json":
		case slices.Contains([]string{"operations", "tmp", "archive", "logs", "failures"}, name):
		case dir == "logs" || strings.HasPrefix(name, "g.") && !strings.Contains(name, ".tmp~"):
		case dir == "archive" && strings.HasSuffix(name, ".json"):
		case dir == "failures" && strings.HasSuffix(name, ".said"):
		default:
			left = append(left, name)
		}

		return nil
	})

	temporary, _ := os.ReadDir(filepath.Join(w.dir, "tmp"))
	for _, e := range temporary {
		left = append(left, "TMPDIR/"+e.Name())
	}

	return left
}

// settle checks what has to hold in the end: no process, no operation that goes on, no file.
func (w *world) settle() {
	w.until("no process is left", func() bool { return len(w.processes()) == 0 })
	if _, err := os.Stat(w.ledger); err != nil {
		return // nothing was ever pushed
	}

	w.until("every operation is in the archive, and nothing else is left", func() bool {
		w.exits([]int{0, 75}, "dpl-cleanup")
		return len(w.files()) == 0
	})

	for id, op := range w.archived() {
		if op.State != "completed" && op.State != "failed" || len(op.Stack) > 0 &&
			op.State == "completed" {
			w.fail("%s is archived as %s with %d calls", id, op.State, len(op.Stack))
		}
	}
}

// An operation is what is checked of an operation file.
type operation struct {
	State    string
	Revision int
	Stack    []struct{ CallID, State string }
}

// archived returns the operations in the archive, by the name of the file.
func (w *world) archived() map[string]operation {
	all := make(map[string]operation)
	names, _ := filepath.Glob(filepath.Join(w.ledger, "archive", "*.json"))
	for _, name := range names {
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = w.decode(name)
	}
	return all
}

func (w *world) decode(path string) (op operation) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &op)
	}
	if err != nil {
		w.fail("%s: %v\n%s", path, err, text)
	}
	return op
}

// calls returns the ids of the open calls of an operation.
func (w *world) calls(op string) map[string]string {
	open := make(map[string]string)
	for _, f := range w.decode(filepath.Join(w.ledger, "operations", op+".json")).Stack {
		open[f.CallID] = f.State
	}
	return open
}

// together runs n commands at once, so many at a time.
func (w *world) together(n, atOnce int, do func(i int)) {
	var group sync.WaitGroup
	free := make(chan struct{}, atOnce)
	broken := make(chan violation, n)

	for i := range n {
		free <- struct{}{}
		group.Go(func() {
			defer func() {
				if v, is := recover().(violation); is {
					broken <- v
				}
				<-free
			}()
			do(i)
		})
	}

	group.Wait()
	if len(broken) > 0 {
		panic(<-broken)
	}
}
