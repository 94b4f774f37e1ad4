//go:build linux

package testscripts

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// A container is a shell in namespaces of its own, which runs one line after the other.
type container struct {
	o   *observed
	in  io.Writer
	out *bufio.Reader
}

// container starts a shell with the commands and the ledger, by unshare(1) with flags, after it has
// run setUp.
func (o *observed) container(setUp string, flags ...string) *container {
	o.t.Helper()
	args := namespaces(o.t, flags...)
	cmd := o.command("sh")
	cmd.Path, cmd.Args = args[0], append(args, "sh", "-s")
	cmd.Env = append(cmd.Env, "PATH="+o.bin+":"+os.Getenv("PATH"))
	in, err := cmd.StdinPipe()
	if err != nil {
		o.t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}

	cmd.Stderr = os.Stderr
	o.launch(cmd)
	c := &container{o, in, bufio.NewReader(out)}
	if said := c.run(setUp + " 2>&1 && echo set up"); !strings.HasSuffix(said, "set up") {
		o.t.Skipf("needs the right to do this in namespaces of its own: %s: %s", setUp, said)
	}

	return c
}

// run returns what a line of shell prints.
func (c *container) run(line string) string {
	c.o.t.Helper()
	const end = "-- end of the output --"
	if _, err := io.WriteString(c.in, line+"\necho\necho "+end+"\n"); err != nil {
		c.o.t.Fatal(err)
	}

	var lines []string
	for {
		said, err := c.out.ReadString('\n')
		if err != nil {
			c.o.t.Fatalf("%s: %v", line, err)
		}
		if said == end+"\n" {
			return strings.TrimSpace(strings.Join(lines, ""))
		}
		lines = append(lines, said)
	}
}

// exits runs a command that has to exit with status.
func (c *container) exits(status, command string) {
	c.o.t.Helper()
	if got := c.run("{ " + command + "; } >said 2>&1; echo $?"); got != status {
		c.o.t.Errorf("in the container: %s: got %s, want %s\n%s", command, got, status,
			c.run("cat said"))
	}
}

// later returns the time d after the heartbeat of frame i of the operation build.
func (o *observed) later(i int, d time.Duration) string {
	o.t.Helper()
	last, err := time.Parse(time.RFC3339, o.member("operations/build.json",
		fmt.Sprintf("stack.%d.lastHeartbeat", i)))
	if err != nil {
		o.t.Fatal(err)
	}
	return last.Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// judgedByHeartbeat checks that the observer, who runs commands, uses only the heartbeat of call
// work, whose process is dead, to judge it.
func (o *observed) judgedByHeartbeat(observer func(status, command string)) {
	o.t.Helper()
	observer("0", "dpl-cleanup")
	observer("0", "dpl-heartbeat --call main")
	o.want("operations/build.json", "state=running", "stack.1.state=active")
	observer("0", "dpl-cleanup --now "+o.later(1, 10*time.Second))
	o.want("operations/build.json", "state=running", "stack.1.state=active")
	observer("0", "dpl-cleanup --now "+o.later(1, 10*time.Second+time.Millisecond))
	o.want("operations/build.json", "state=cleanup", "stack.1.state=crashed",
		"stack.1.evidence=stale")
}

// here runs a line of command as exits does.
func (o *observed) here(status, command string) {
	o.t.Helper()
	words := strings.Fields(command)
	o.exits(status, words[0], words[1:]...)
}

// ownPID are pid namespaces.
var ownPID = []string{"-Urp --mount-proc", "-p --mount-proc"}

// testElsewhere judges participants of another pid namespace from outside, where their pids mean no
// process, or another.
func testElsewhere(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("true", ownPID...)
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	c.exits("0", "sleep 600 & dpl-push --participant worker --call work --pid $!")
	if _, here := proc.StartTicks(1); !here {
		t.Fatal("there is no process 1")
	}

	c.exits("0", "dpl-push --participant init --call first --pid 1")
	if got, want := o.member("operations/build.json",
		"stack.1.process.pidNamespace"), c.run("readlink /proc/self/ns/pid | tr -dc 0-9"); got != want {
		t.Errorf("pidNamespace %s, want %s", got, want)
	}

	o.run("dpl-cleanup")
	o.want("operations/build.json", "state=running", "stack.1.state=active", "stack.2.state=active")
	c.exits("0", "dpl-pop --call first")

	// Inside, its end is evidence. Here it is none.
	c.run("kill -9 $!; wait")
	c.exits("0", "dpl-cleanup --dry-run | grep -q exited")
	o.judgedByHeartbeat(o.here)
}

// testElsewhereInside judges participants of this pid namespace from inside another one.
func testElsewhereInside(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	worker := o.sleeper()
	c := o.container("true", ownPID...)
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid",
		strconv.Itoa(worker.Process.Pid))
	o.run("dpl-push", "--participant", "init", "--call", "first", "--pid", "1") // another one inside
	c.exits("0", "dpl-cleanup")
	o.want("operations/build.json", "state=running", "stack.1.state=active", "stack.2.state=active")
	o.run("dpl-pop", "--call", "first")
	die(worker)
	o.judgedByHeartbeat(c.exits)
}

// testHostName judges the records of two containers with different host names: to each other they
// are remote.
func testHostName(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	named := func(name string) *container {
		return o.container("hostname "+name, "-Urpu --mount-proc", "-pu --mount-proc")
	}

	one, two := named("one"), named("two")
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	one.exits("0", "sleep 600 & dpl-push --participant worker --call work --pid $!")
	two.exits("0", "sleep 600 & dpl-push --participant second --call other --pid $!")
	if here, there := o.member("operations/build.json",
		"stack.1.process.hostId"), o.member("operations/build.json", "stack.2.process.hostId"); here == there {
		t.Errorf("the host id of both is %s", here)
	}

	for _, observer := range []func(status, command string){one.exits, two.exits, o.here} {
		observer("0", "dpl-cleanup")
	}

	o.want("operations/build.json", "state=running", "stack.1.state=active", "stack.2.state=active")
	two.exits("0", "dpl-pop --call other")
	one.run("kill -9 $!; wait")
	o.judgedByHeartbeat(two.exits)

	// Within one pid namespace, another host name alone also makes another host.
	o.rename(t, bin)
}

// rename records a process, and judges it when the host has another name.
func (o *observed) rename(t *testing.T, bin string) {
	o = ledgerOf(t, bin)
	c := o.container("true", "-Uru", "-u")
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	c.exits("0", "sleep 600 & dpl-push --participant worker --call work --pid $!")
	c.run("kill -9 $!; wait; hostname renamed")
	o.judgedByHeartbeat(c.exits)
}

// testBoot judges participants of another boot: they are dead if they have sent no heartbeat since
// this one began. If one sends heartbeats, it is another machine with the same name and machine id,
// and alive.
func testBoot(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	write(t, o.dir+"/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n", 0o644)
	c := o.container("mount --bind boot_id /proc/sys/kernel/random/boot_id", "-Urm", "-m")
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	c.exits("0", "sleep 600 & dpl-push --participant worker --call work --pid $!")
	if got := o.member("operations/build.json",
		"stack.1.process.bootId"); got != "01234567-89ab-cdef-0123-456789abcdef" {
		t.Fatalf("bootId %s", got)
	}

	worker := o.sleeper()
	o.run("dpl-push", "--participant", "second", "--call", "other", "--pid",
		strconv.Itoa(worker.Process.Pid))
	o.run("dpl-cleanup")
	c.exits("0", "dpl-cleanup")
	o.want("operations/build.json", "state=running", "stack.1.state=active", "stack.2.state=active")
	o.run("dpl-pop", "--call", "other")
	c.run("kill -9 $!; wait")
	o.judgedByHeartbeat(o.here)

	// A process without a heartbeat since this boot began was ended by the reboot, even if its pid
	// is taken.
	booted := booted(t)

	for name, since := range map[string]time.Duration{"before": -time.Minute,
		"after": time.Minute} {
		o := ledgerOf(t, bin)
		now := " --now " + booted.Add(since).Format("2006-01-02T15:04:05.000Z")
		o.here("0", "dpl-push --participant cli --call main --staleness 100000h"+now)
		c.run("export DPL_LEDGER=" + o.dir + "/ledger; sleep 600 &")
		c.exits("0", "dpl-push --participant worker --call work --pid $!"+now)
		o.run("dpl-cleanup")
		if name == "before" {
			o.want("operations/build.json", "state=cleanup", "stack.0.state=active",
				"stack.1.state=crashed", "stack.1.evidence=rebooted")
		} else {
			o.want("operations/build.json", "state=running", "stack.1.state=active")
		}
	}
}

// booted returns when process 1 was started: that of the container that the test runs in, if it
// does.
func booted(t *testing.T) time.Time {
	t.Helper()
	line, err := os.ReadFile("/proc/1/stat")
	fields := strings.Fields(string(line[strings.LastIndexByte(string(line), ')')+1:]))
	if err != nil || len(fields) < 20 {
		t.Fatalf("process 1: %v", err)
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Now().Add(time.Duration(ticks)*time.Second/100 - uptime(t)).UTC()
}

func uptime(t *testing.T) time.Duration {
	t.Helper()
	data, _ := os.ReadFile("/proc/uptime")
	first, _, _ := strings.Cut(string(data), " ")
	d, err := time.ParseDuration(first + "s")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
