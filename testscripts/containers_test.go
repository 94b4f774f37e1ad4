//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestContainers shows what spec/containers.md claims, in namespaces that unshare(1) makes.
func TestContainers(t *testing.T) {
	t.Parallel()
	bin := built(t)

	for name, test := range map[string]func(t *testing.T, bin string){
		"first process":   testFirstProcess,
		"orphans":         testOrphans,
		"one ledger":      testOneLedger,
		"killed":          testKilledContainer,
		"frozen":          testFrozenContainer,
		"restarted":       testRestartedContainer,
		"scratch":         testScratch,
		"read-only":       testReadOnlyRoot,
		"owner elsewhere": testOwnerElsewhere,
		"group of files":  testGroupOfFiles,
		"image":           testLedgerInImage,
		"in memory":       testLedgerInMemory,
		"new names":       testNewNames,
		"services":        testServicesPage,
		"manifests":       testManifests,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bin)
		})
	}
}

// entry starts a command as the first process of a pid namespace, and returns unshare(1), which
// waits for it and exits as it did, and the pid of that process.
func (o *observed) entry(name string, args ...string) (outside *exec.Cmd, first int) {
	o.t.Helper()
	return o.entryIn(ownPID, filepath.Join(o.bin, name), args...)
}

// entryIn is entry for the namespaces that unshare(1) makes with the first allowed one of flags.
func (o *observed) entryIn(flags []string, name string, args ...string) (outside *exec.Cmd,
	first int) {
	o.t.Helper()
	cmd := o.command(name)
	args = append(append(namespaces(o.t, flags...), name), args...)
	cmd.Path, cmd.Args = args[0], args
	said, err := os.Create(o.dir + "/said")
	if err != nil {
		o.t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	pid := o.launch(cmd)

	poll.Until(o.t, "the first process of the container", func() bool {
		children, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) +
			"/children")
		first, err = strconv.Atoi(strings.TrimSpace(string(children)))
		return err == nil
	})
	return cmd, first
}

// text returns the contents of a file in the directory of the test.
func (o *observed) text(name string) string {
	o.t.Helper()
	text, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil {
		o.t.Fatal(err)
	}
	return string(text)
}

// there waits for a file in the directory of the test.
func (o *observed) there(name string) {
	o.t.Helper()
	poll.Until(o.t, name, func() bool {
		_, err := os.Stat(filepath.Join(o.dir, name))
		return err == nil
	})
}

// ends expects unshare(1) to end with status, and the operation in state.
func (o *observed) ends(outside *exec.Cmd, status, state string) {
	o.t.Helper()
	late := time.AfterFunc(poll.Patience, func() { outside.Process.Kill() })
	defer late.Stop()
	if got, _ := exitStatus(outside.Wait()); got != status {
		o.t.Errorf("the container ends with %s, want %s\n%s", got, status, o.text("said"))
	}
	o.want("operations/build.json", "state="+state)
}

// testFirstProcess has dpl-run as the first process of a container, which gets no signal that it
// does not handle.
func testFirstProcess(t *testing.T, bin string) {
	for signal, status := range map[syscall.Signal]string{
		syscall.SIGTERM: "143", syscall.SIGINT: "130", syscall.SIGHUP: "129",
	} {
		o := ledgerOf(t, bin)
		outside, first := o.entry("dpl-run", "--call", "main", "--", "sh", "-c",
			`trap "echo told >told" TERM INT HUP; echo >ready; while ! test -e told; do sleep 0.05; done
			trap - TERM INT HUP; kill -`+strings.TrimPrefix(sigName(signal), "SIG")+` $$`)
		o.there("ready")
		if err := syscall.Kill(first, signal); err != nil {
			t.Fatal(err)
		}
		o.ends(outside, status, "failed")
		o.there("told")
	}

	// The status of the container is that of the command.
	o := ledgerOf(t, bin)
	outside, _ := o.entry("dpl-run", "--call", "main", "--", "sh", "-c", "exit 7")
	o.ends(outside, "7", "failed")
}

func sigName(s syscall.Signal) string {
	return map[syscall.Signal]string{
		syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP",
	}[s]
}

// testOrphans has dpl-run as the first process of a container, whose children all orphans become.
// It waits for those that have ended, and stops a daemon that its command has left.
func testOrphans(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	outside, _ := o.entry("dpl-run", "--call", "main", "--kill-after", "20s", "--", "sh", "-c", `
		for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.1; exit 3' &); done
		zombies() { grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; }
		until test "$(zombies | wc -l)" = 5; do sleep 0.05; done; echo >dead
		while zombies >zombies; do sleep 0.1; done; echo >reaped
		(setsid sh -c 'trap "echo >told; exit" TERM; echo >ready; while :; do sleep 0.05; done' &)
		until test -e ready; do sleep 0.05; done`)
	o.ends(outside, "0", "completed")
	o.there("dead")
	o.there("reaped")
	o.there("told")
}

// testOneLedger has two containers and the host at one ledger.
func testOneLedger(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	const setUp = "export DPL_SYNC=none"
	one, two := o.container(setUp, ownPID...), o.container(setUp, ownPID...)
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "1h")

	// No edit is lost.
	const pushes = `for i in 1 2 3 4 5 6 7 8; do dpl-push --participant p --call %$i || echo lost; done`
	one.run("{ " + strings.ReplaceAll(pushes, "%", "one") + "; } >one 2>&1 &")
	two.run("{ " + strings.ReplaceAll(pushes, "%", "two") + "; } >two 2>&1 &")
	o.sh("export DPL_SYNC=none; " + strings.ReplaceAll(pushes, "%", "host"))
	one.run("wait")
	two.run("wait")
	if calls := strings.Fields(o.member("operations/build.json",
		"stack.*.callId")); len(calls) != 25 {
		t.Errorf("%d calls, want 25: %v", len(calls), calls)
	}

	// What one does, the others see at once, and each learns it from its heartbeats.
	two.run("{ dpl-wait --op build --for aborted --timeout 30s; echo $? >waited; } &")
	one.exits("0", "dpl-abort --op build")
	poll.Until(t, "the end of the wait", func() bool {
		status, _ := os.ReadFile(o.dir + "/waited")
		return string(status) == "0\n"
	})
	two.exits("3", "dpl-heartbeat --call two1")
	o.here("3", "dpl-heartbeat --call host1")
}

// sh runs lines of shell outside of containers.
func (o *observed) sh(lines string) {
	o.t.Helper()
	cmd := o.command("sh")
	cmd.Path, cmd.Args = strict.Program(o.t, "sh"), []string{"sh", "-c", lines}
	cmd.Env = append(cmd.Env, "PATH="+o.bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "lost") {
		o.t.Errorf("%s: %v\n%s", lines, err, out)
	}
}

// testKilledContainer kills the first process of a container, and so all of them. From outside,
// that is seen by the silence that follows.
func testKilledContainer(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	outside, first := o.entry("dpl-run", "--call", "work", "--", "sh", "-c",
		`echo half >"$DPL_TMP/half"; echo >ready; sleep 600`)
	o.there("ready")
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	outside.Wait()
	o.sh("test -e ledger/tmp/build/*~work/half")

	if why := o.run("dpl-status", "--why", "work"); !strings.Contains(why, "\nIt is alive.\n") ||
		!strings.Contains(why, "in another pid namespace") {
		t.Errorf("why: %s", why)
	}
	o.judgedByHeartbeat(o.here)
	o.run("dpl-cleanup")
	if left, _ := filepath.Glob(o.dir + "/ledger/tmp/build/*~work"); len(left) > 0 {
		t.Error("its temporary directory is still there")
	}
}

// testFrozenContainer stops all processes of a container for longer than the threshold, as the
// freezer does. From outside it seems dead. When it goes on, it learns that it was declared crashed.
func testFrozenContainer(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--interval", "100ms")
	outside, first := o.entry("dpl-run", "--call", "work", "--", "sh", "-c", "echo >ready; sleep 600")
	o.there("ready")
	o.signalContainer(first, syscall.SIGSTOP)
	o.judgedByHeartbeat(o.here)
	o.signalContainer(first, syscall.SIGCONT)
	o.ends(outside, "5", "cleanup")
}

// signalContainer sends sig to all processes of the pid namespace of first.
func (o *observed) signalContainer(first int, sig syscall.Signal) {
	o.t.Helper()
	within, err := os.Readlink("/proc/" + strconv.Itoa(first) + "/ns/pid")
	if err != nil {
		o.t.Fatal(err)
	}

	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if at, _ := os.Readlink(dir + "/ns/pid"); at == within {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			syscall.Kill(pid, sig)
		}
	}
}

// testRestartedContainer kills a container, and starts another one with the same host name. If the
// kernel gives that the number of the old pid namespace, no process of the old one exists any more,
// and its end is evidence; otherwise its heartbeats count.
func testRestartedContainer(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	outside, first := o.entry("dpl-run", "--call", "work", "--", "sh", "-c", "echo >ready; sleep 600")
	o.there("ready")
	old, _ := os.Readlink("/proc/" + strconv.Itoa(first) + "/ns/pid")
	syscall.Kill(first, syscall.SIGKILL)
	outside.Wait()

	c := o.container("true", ownPID...)
	if c.run("readlink /proc/self/ns/pid") == old {
		c.exits("0", "dpl-cleanup")
		o.want("operations/build.json", "state=cleanup", "stack.1.evidence=exited")
	} else {
		o.judgedByHeartbeat(c.exits)
	}

	// Without --op each start is an operation of its own, which the end of the last does not stop.
	c.exits("0", "env -u DPL_OP dpl-run -- true")
	c.exits("3", "dpl-run --call work -- true")
}

// testNewNames has a janitor in a container of its own at each start, as a CronJob does, at a ledger
// that hosts share, where calls of another host are silent. With a new host name each time, it is
// always a host that looks for the first time, and never finds anybody dead.
func testNewNames(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	write(t, o.dir+"/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n", 0o644)
	c := o.container("mount --bind boot_id /proc/sys/kernel/random/boot_id && hostname other",
		"-Urpmu --mount-proc", "-pmu --mount-proc")
	c.exits("0", "dpl-push --commit link --staleness 600ms --participant p --call main")

	here := namespaces(t, "-Ur -u", "-u")
	janitor := func(name string) {
		t.Helper()
		cmd := o.command("sh")
		cmd.Path, cmd.Args = here[0], append(here, "sh", "-c", "hostname "+name+"; "+
			filepath.Join(bin, "dpl-cleanup"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	passes := func(name func(i int) string, want string) {
		t.Helper()
		begun := time.Now()
		for i := 0; ; i++ {
			janitor(name(i))
			if got := o.member("operations/build.json", "state"); got == want &&
				(want != "running" || time.Since(begun) > 2*time.Second) {
				return
			}
			if time.Since(begun) > poll.Patience {
				t.Fatalf("after %d passes not yet %s", i, want)
			}
		}
	}

	passes(func(i int) string { return "pod" + strconv.Itoa(i) }, "running")
	passes(func(int) string { return "janitor" }, "cleanup")
}
