//go:build linux

package testscripts

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// observed is a ledger that dpl-wait and dpl-watch look at.
type observed struct {
	t        *testing.T
	bin, dir string
}

func startObserved(t *testing.T) *observed {
	dir := t.TempDir()
	t.Cleanup(func() { proc.EndAll(dir) })
	return &observed{t, built(t), dir}
}

func (o *observed) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(o.bin, name), args...)
	cmd.Dir = o.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DPL_") {
			cmd.Env = append(cmd.Env, v)
		}
	}

	cmd.Env = append(cmd.Env, "DPL_LEDGER="+o.dir+"/ledger", "DPL_OP=build", "DPL_REPLAY=1")
	return cmd
}

// run runs a command that has to succeed, and returns what it prints.
func (o *observed) run(name string, args ...string) string {
	out, err := o.command(name, args...).CombinedOutput()
	if err != nil {
		o.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a command and returns when it is asleep, with an eye on files.
func (o *observed) start(name string, args ...string) *exec.Cmd {
	cmd := o.command(name, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.asleep(cmd.Process.Pid)
	return cmd
}

func (o *observed) asleep(pid int) {
	o.t.Helper()
	poll.Until(o.t, fmt.Sprintf("process %d sleeps over files that it watches", pid), func() bool {
		return watchesFiles(pid) && sleeps(pid)
	})
}

func watchesFiles(pid int) bool {
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	return slices.ContainsFunc(infos, func(path string) bool {
		data, _ := os.ReadFile(path)
		return strings.Contains(string(data), "\ninotify ")
	})
}

func sleeps(pid int) bool {
	return !slices.ContainsFunc(statuses(pid),
		func(s string) bool { return !strings.Contains(s, "\nState:\tS ") })
}

// statuses returns what /proc has of each thread of a process.
func statuses(pid int) (all []string) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range tasks {
		data, _ := os.ReadFile(path)
		all = append(all, string(data))
	}
	return all
}

// effort is what a process has taken of the processors.
type effort struct{ ticks, switches int }

func effortOf(t *testing.T, pid int) (e effort) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}

	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	for _, field := range fields[11:13] { // utime, stime
		n, _ := strconv.Atoi(field)
		e.ticks += n
	}

	for _, status := range statuses(pid) {
		_, rest, _ := strings.Cut(status, "\nvoluntary_ctxt_switches:\t")
		first, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(first)
		if err != nil {
			t.Fatal(err)
		}
		e.switches += n
	}

	return e
}

// TestIdle checks that waiting and watching commands do nothing while nothing changes, however busy
// the rest of the ledger is.
func TestIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	o := startObserved(t)
	for _, op := range []string{"build", "second", "other"} {
		o.run("dpl-push", "--op", op, "--participant", "cli", "--call", "main", "--staleness",
			"600", "--pid", strconv.Itoa(os.Getpid()))
	}

	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--no-pass", "--readiness",
		"starting")
	o.run("dpl-register", "--group", "h", "--supervisor", "s", "--no-pass")
	o.run("dpl-queue", "q", "--create", "--halt", "lunch")
	o.run("dpl-enqueue", "q", "--id", "task", "--", "true")
	var all []*exec.Cmd

	for _, args := range [][]string{
		{"dpl-wait"}, {"dpl-wait", "--for", "change"},
		{"dpl-wait", "--op", "build", "--op", "second", "--any", "--timeout", "1h"},
		{"dpl-wait", "--ready", "none"}, {"dpl-wait", "--group", "g", "--ready", "s"},
		{"dpl-watch"}, {"dpl-watch", "--group", "g"}, {"dpl-watch", "--queue", "q"},
		{"dpl-wait", "--queue", "q"}, {"dpl-work", "q", "--follow"},
		{"dpl-claim", "q", "--wait", "--participant", "w", "--deadline", "1h"},
		{"dpl-wait", "--op", "build", "--op", "none", "--for", "running"}, // this one looks whether others' files are the one it misses
	} {
		all = append(all, o.start(args[0], args[1:]...))
	}

	o.idle(all, "nothing changes", func() { <-time.After(3 * time.Second) })
	o.idle(all[:len(all)-1], "others work", func() {
		for range 150 {
			o.run("dpl-heartbeat", "--op", "other", "--call", "main")
			o.run("dpl-heartbeat", "--op", "other", "--group", "h", "--supervisor", "s")
		}
	})
}

// idle checks that the processes do next to nothing in the meantime.
func (o *observed) idle(all []*exec.Cmd, when string, meanwhile func()) {
	const ticks, switches = 2, 30
	before := make([]effort, len(all))
	for i, cmd := range all {
		o.asleep(cmd.Process.Pid)
		before[i] = effortOf(o.t, cmd.Process.Pid)
	}

	meanwhile()
	for i, cmd := range all {
		e := effortOf(o.t, cmd.Process.Pid)
		e.ticks, e.switches = e.ticks-before[i].ticks, e.switches-before[i].switches
		o.t.Logf("%s: %d ticks, %d switches: %v", when, e.ticks, e.switches, cmd.Args)
		if e.ticks > ticks || e.switches > switches {
			o.t.Errorf("%s: %v took %d ticks and woke %d times, want at most %d and %d", when,
				cmd.Args, e.ticks, e.switches, ticks, switches)
		}
	}
}

// TestLatency measures the time from an edit to the end of a wait for it. A test cannot say how
// long is right.
func TestLatency(t *testing.T) {
	const rounds, limit = 50, 2 * time.Second
	o := startObserved(t)
	renamed := func(file string) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file+".new", strings.Replace(string(data), `"state": "running"`,
			`"state": "cleanup"`, 1), 0o600)
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}

	for name, edit := range map[string]func(op string){
		"dpl-pop": func(op string) { o.run("dpl-pop", "--op", op, "--call", "main", "--fail") },
		"rename": func(op string) {
			renamed(filepath.Join(o.dir, "ledger/operations",
				op+".json"))
		},
	} {
		var took []time.Duration
		for i := range rounds {
			op := fmt.Sprint(name, i)
			o.run("dpl-push", "--op", op, "--participant", "cli", "--call", "main", "--staleness",
				"600")
			wait := o.start("dpl-wait", "--op", op, "--for", "cleanup")
			ended := make(chan time.Time, 1)
			go func() {
				if err := wait.Wait(); err != nil {
					t.Errorf("%v: %v", wait.Args, err)
				}
				ended <- time.Now()
			}()

			edit(op)
			edited := time.Now()
			took = append(took, max(0, (<-ended).Sub(edited)))
		}

		slices.Sort(took)
		t.Logf("from %s to the end of the wait: median %v, slowest %v", name, took[rounds/2],
			took[rounds-1])
		if took[rounds-1] > limit {
			t.Errorf("from %s to the end of a wait: %v", name, took[rounds-1])
		}
	}
}

// TestManyWaits has more processes wait than may watch files: the rest has to poll.
func TestManyWaits(t *testing.T) {
	const waits, instances = 140, 8
	unshare := strict.Program(t, "unshare")
	o := startObserved(t)
	if err := exec.Command(unshare, "-Ur", "true").Run(); err != nil {
		t.Skip("needs the right to make a user namespace")
	}

	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	script := fmt.Sprintf(`echo %d >/proc/sys/user/max_inotify_instances || { echo read-only; exit; }
		for i in $(seq %d); do dpl-wait --for completed --timeout 60 & all="$all $!"; done
		for i in $(seq %d); do dpl-watch --timeout 60 >lines$i & all="$all $!"; done
		echo started; read go
		for pid in $all; do wait $pid || { echo $?; exit 1; }; done`, instances, waits, instances)

	cmd := o.command("dpl-wait")
	cmd.Path, cmd.Args = unshare, []string{"unshare", "-Ur", "sh", "-c", script}
	cmd.Env = append(cmd.Env, "PATH="+o.bin+":"+os.Getenv("PATH"))
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(out)
	lines.Scan()
	if lines.Text() == "read-only" {
		cmd.Wait()
		t.Skip("/proc/sys is read-only, as in a container")
	}

	if lines.Text() != "started" {
		t.Fatalf("got %q", lines.Text())
	}

	o.run("dpl-pop", "--call", "main")
	io.WriteString(in, "go\n")
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, rest)
	}

	for i := range instances {
		data, err := os.ReadFile(filepath.Join(o.dir, "lines"+strconv.Itoa(i+1)))
		if got := strings.Count(string(data), "\n"); err != nil || got != 3 {
			t.Errorf("watch %d: got %d lines, want 3 (%v)", i+1, got, err)
		}
	}
}
