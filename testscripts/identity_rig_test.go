//go:build linux

package testscripts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestIdentity makes the commands judge and signal processes whose pids mean something else by
// then, or elsewhere.
func TestIdentity(t *testing.T) {
	t.Parallel()
	bin := os.Getenv(insideVariable)
	if bin == "" {
		bin = built(t)
	}

	for name, test := range map[string]func(t *testing.T, bin string){
		"recycled":            testRecycled,
		"window":              testWindow,
		"window of a handler": testWindowOfHandler,
		"same tick":           testSameTick,
		"zombies":             testZombies,
		"elsewhere":           testElsewhere,
		"inside":              testElsewhereInside,
		"host name":           testHostName,
		"boot":                testBoot,
		"time":                testTimeNamespace,
		"claims elsewhere":    testClaimsElsewhere,
		"claims inside":       testClaimsInside,
		"claims silent":       testClaimsSilent,
		"claims of hosts":     testClaimsOfHosts,
		"claims of boots":     testClaimsOfBoots,
		"claims of times":     testClaimsOfTimes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bin)
		})
	}
}

// insideVariable has the directory of the commands, in the environment of a test that runs in
// namespaces of its own.
const insideVariable = "DPL_TEST_INSIDE"

// ownNumbers are namespaces in which a test may choose the number of the next process.
var ownNumbers = []string{"-Urp --mount-proc", "-p --mount-proc"}

// inside runs the test again in the namespaces that unshare(1) makes with the first allowed one of
// flags, passes its result on, and returns nil. Inside, it returns an empty ledger. The first
// process there is a shell, which waits for orphans so that their pids become free.
func inside(t *testing.T, bin string, flags ...string) *observed {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return ledgerOf(t, bin)
	}

	args := namespaces(t, flags...)
	args = append(args, "sh", "-c", `"$@"; exit $?`, "sh", os.Args[0], "-test.v",
		"-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	ctx, cancel := context.WithTimeout(context.Background(), 4*poll.Patience)
	defer cancel()

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"="+bin)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("%v: %v\n%s", args, err, out)
	}

	return nil
}

// namespaces returns the beginning of a command line that runs a command in the namespaces that
// unshare(1) makes with the first allowed one of flags.
func namespaces(t *testing.T, flags ...string) []string {
	t.Helper()
	unshare := strict.Program(t, "unshare")
	var refusals []string

	for _, f := range flags {
		args := append(append([]string{unshare}, strings.Fields(f)...), "--fork", "--kill-child")
		out, err := exec.Command(args[0], append(args[1:], "true")...).CombinedOutput()
		if err == nil {
			return args
		}
		refusals = append(refusals, fmt.Sprintf("needs unshare %s: %v: %s", f, err, out))
	}

	t.Skip(strings.Join(refusals, "\n"))
	return nil
}

// ledgerOf returns an empty ledger for t. All that belongs to it ends with t.
func ledgerOf(t *testing.T, bin string) *observed {
	dir := t.TempDir()
	t.Cleanup(func() { proc.EndAll(dir) })
	return &observed{t, bin, dir}
}

// exits runs a command that has to exit with status, and returns what it prints.
func (o *observed) exits(status, name string, args ...string) string {
	o.t.Helper()
	out, err := o.command(name, args...).CombinedOutput()
	if got, err := exitStatus(err); got != status {
		o.t.Errorf("%s %s: got %s, want %s (%v)\n%s", name, strings.Join(args, " "), got, status,
			err, out)
	}
	return string(out)
}

// member returns the text of the member at path, such as stack.0.state, of a file in the ledger, or
// "absent".
func (o *observed) member(file, path string) string {
	o.t.Helper()
	data, err := os.ReadFile(filepath.Join(o.dir, "ledger", file))
	if err != nil {
		o.t.Fatal(err)
	}

	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		o.t.Fatalf("%s: %v", file, err)
	}
	return strings.Join(values(document, strings.Split(path, ".")), " ")
}

// want compares members of a file of the ledger, given as PATH=WANT.
func (o *observed) want(file string, members ...string) {
	o.t.Helper()
	for _, m := range members {
		path, want, _ := strings.Cut(m, "=")
		if got := o.member(file, path); got != want {
			o.t.Errorf("%s: %s is %s, want %s", file, path, got, want)
		}
	}
}

// launch starts cmd, and kills what is left of it when the test ends.
func (o *observed) launch(cmd *exec.Cmd) int {
	o.t.Helper()
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}

	o.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// sleeper starts a process that does nothing.
func (o *observed) sleeper() *exec.Cmd {
	cmd := exec.Command("sleep", "600")
	o.launch(cmd)
	return cmd
}

// die kills a process of cmd and waits for it, so that its number is free.
func die(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// A stranger is a process, with a child, that leads a session and a group, and that must not get a
// signal.
type stranger struct {
	pid int
	dir string
}

// strangerScript notes each signal that can be caught.
const strangerScript = `trap 'echo signalled >>told' HUP INT QUIT USR1 USR2 PIPE ALRM TERM CONT TSTP
read -r go
sleep 600 & echo $! >child.new && mv child.new child
while :; do wait; done`

// recycle makes a stranger with the given pid, which is or becomes free, that started in another
// tick than start.
func (o *observed) recycle(pid int, start int64) *stranger {
	o.t.Helper()

	var s *stranger
	poll.Until(o.t, fmt.Sprintf("a stranger with the number %d", pid), func() bool {
		s = o.recycleOnce(pid, start)
		return s != nil
	})

	poll.Until(o.t, "the stranger is ready", func() bool { return s.child() != 0 })
	return s
}

// recycleOnce returns nil if another process got the pid, or the tick is the same.
func (o *observed) recycleOnce(pid int, start int64) *stranger {
	o.t.Helper()
	if err := nextPID(pid); err != nil {
		o.t.Skipf("needs the right to choose the number of a process: %v", err)
	}

	s := &stranger{dir: o.t.TempDir()}
	cmd := exec.Command("sh", "-c", strangerScript)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Setsid: true}

	// It carries the ledger, as a process does that the same user has started for something else.
	cmd.Env = append(os.Environ(), "DPL_LEDGER="+o.dir+"/ledger")
	begin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		o.t.Fatal(err)
	}

	s.pid = cmd.Process.Pid

	end := func() {
		syscall.Kill(-s.pid, syscall.SIGKILL)
		cmd.Wait()
	}

	if ticks, _ := proc.StartTicks(s.pid); s.pid != pid || ticks == start {
		end()
		return nil
	}

	o.t.Cleanup(end)

	// Its child must not get the number of another stranger that is to follow.
	if err := nextPID(pid + 1000); err != nil {
		o.t.Fatal(err)
	}
	fmt.Fprintln(begin)
	return s
}

// nextPID makes the next process get the number pid, or the next one that is free.
func nextPID(pid int) error {
	return os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0)
}

func (s *stranger) child() int {
	data, _ := os.ReadFile(filepath.Join(s.dir, "child"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

// unharmed checks that neither the stranger nor its child has got a signal: the stranger sleeps
// until it gets one.
func (s *stranger) unharmed(o *observed) {
	o.t.Helper()
	for _, pid := range []int{s.pid, s.child()} {
		if _, alive := proc.StartTicks(pid); !alive {
			o.t.Errorf("process %d of the stranger is dead", pid)
			continue
		}
		poll.Until(o.t, "the stranger sleeps", func() bool { return sleeps(pid) })
	}

	if told, err := os.ReadFile(filepath.Join(s.dir, "told")); err == nil {
		o.t.Errorf("the stranger got a signal: %s", told)
	}
}
