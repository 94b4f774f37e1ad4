//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// An observer runs a line of shell, which has to exit with status.
type observer func(status, line string)

// shell runs a line as a container does, in no namespace of its own. What the line starts in the
// background lives on.
func (o *observed) shell(status, line string) {
	o.t.Helper()
	cmd := o.command("sh", "-c", "{ "+line+"\n} >said 2>&1")
	cmd.Path = "/bin/sh"
	cmd.Env = append(cmd.Env, "PATH="+o.bin+":"+os.Getenv("PATH"), "DPL_OP=")
	if got, err := exitStatus(cmd.Run()); got != status {
		said, _ := os.ReadFile(filepath.Join(o.dir, "said"))
		o.t.Errorf("%s: got %s, want %s (%v)\n%s", line, got, status, err, said)
	}
}

// The tasks of a queue q, and who has them.
const (
	taskShell = iota // a shell that lives on has claimed it
	taskRun          // an attempt of dpl-work
	tasksTaken
)

// claims makes a queue q whose tasks are claimed by processes that worker starts, for each way to
// claim one.
func (o *observed) claims(worker observer) {
	o.t.Helper()
	o.run("dpl-queue", "q", "--create", "--backoff", "0")
	for _, id := range []string{"shell", "run"} {
		o.run("dpl-enqueue", "q", "--id", id, "--", "sh", "-c",
			"echo $$ >command.new; mv command.new command; exec sleep 600")
	}
	worker("0", "sleep 600 & echo $! >shell; dpl-claim q --pid $!")
	worker("0", "dpl-work q --once --kill-after 0.3s >run.said 2>&1 & echo $! >run")
	o.pidIn("command")
	o.stand()
}

// stand checks that both claims stand.
func (o *observed) stand() {
	o.t.Helper()
	o.want("queues/q.json", "tasks.*.state=claimed claimed", "tasks.*.claim.epoch=1 2",
		"counters.ends=absent")
	if o.t.Failed() {
		o.t.FailNow() // what follows would wait for what does not come
	}
}

// looks lets an observer look at the claims, which all stand.
func (o *observed) looks(by observer) {
	o.t.Helper()
	o.look(by)
	o.stand()
}

// look lets an observer look at the queue in each way there is. It may find no task, and no change.
func (o *observed) look(by observer) {
	o.t.Helper()
	by("0", "dpl-cleanup")
	by("0", "dpl-queue q --permits all")
	by("1", "dpl-claim q --participant other --deadline 1h")
	by("75", "dpl-work q --once -- true")
	by("124", "dpl-wait --queue q --for change --timeout 0.05s")
}

// killShell kills the claimer of task shell, by its number for worker.
func killShell(worker observer) { worker("0", "kill -9 $(cat shell); wait $(cat shell) || :") }

// killRun kills dpl-work, which does task run, and its keeper.
func (o *observed) killRun(worker observer) {
	o.t.Helper()
	keeper := o.member("queues/q.json", "tasks.1.claim.keeper.pid")
	worker("0", "kill -9 "+keeper+" $(cat run); wait $(cat run) || :")
}

// passed returns the time d after the claim of task i.
func (o *observed) passed(i int, d time.Duration) string {
	o.t.Helper()
	at, err := time.Parse(time.RFC3339, o.member("queues/q.json",
		"tasks."+strconv.Itoa(i)+".claim.at"))
	if err != nil {
		o.t.Fatal(err)
	}
	return " --now " + at.Add(d).UTC().Format(milliseconds)
}

// milliseconds is the layout of times in files.
const milliseconds = "2006-01-02T15:04:05.000Z"

// stepped lets the times in a file of the ledger look as if the clock had been set by d, or the
// machine suspended, since it was written.
func (o *observed) stepped(file string, d time.Duration) {
	o.t.Helper()
	o.replace(file, `"20[0-9-]+T[0-9:.]+Z"`, func(at string) string {
		t, err := time.Parse(`"`+milliseconds+`"`, at)
		if err != nil {
			o.t.Fatal(err)
		}
		return t.Add(-d).Format(`"` + milliseconds + `"`)
	})
}

// aged lets a file of the ledger look as if d had passed since it was written.
func (o *observed) aged(file string, d time.Duration) {
	o.t.Helper()
	o.stepped(file, d)
	o.replace(file, `"monotonicMs": [0-9]+`, func(beat string) string {
		ms, err := strconv.ParseInt(strings.TrimPrefix(beat, `"monotonicMs": `), 10, 64)
		if err != nil {
			o.t.Fatal(err)
		}
		return `"monotonicMs": ` + strconv.FormatInt(ms-d.Milliseconds(), 10)
	})
}

// replace replaces what matches a pattern in a file of the ledger, while nobody else may edit it.
func (o *observed) replace(file, pattern string, by func(string) string) {
	o.t.Helper()
	path := filepath.Join(o.dir, "ledger", file)
	lock := flock.New(path+".lock", flock.SetFlag(os.O_RDWR))
	if err := lock.Lock(); err != nil {
		o.t.Fatal(err)
	}
	defer lock.Close()

	data, err := os.ReadFile(path)
	if err != nil {
		o.t.Fatal(err)
	}
	text := regexp.MustCompile(pattern).ReplaceAllStringFunc(string(data), by)
	write(o.t, path, text, 0o600)
}

const month = 30 * 24 * time.Hour

// testClaimsElsewhere has claims of another pid namespace, which nobody takes from here. Who can
// see their processes gives the tasks back when these are killed.
func testClaimsElsewhere(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("unset DPL_OP", ownPID...)
	o.judgedWhereSeen(c.exits, o.shell)
}

// testClaimsInside is testClaimsElsewhere for claims of here, seen from another pid namespace.
func testClaimsInside(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("unset DPL_OP", ownPID...)
	o.judgedWhereSeen(o.shell, c.exits)
}

// judgedWhereSeen checks that the claims of processes that worker starts end if these are killed,
// for who sees that, and not for a stranger to their numbers.
func (o *observed) judgedWhereSeen(worker, stranger observer) {
	o.claims(worker)
	o.looks(worker)
	o.looks(stranger)
	stranger("0", "dpl-queue q --permits all"+o.passed(taskShell, 5*time.Second))

	killShell(worker)
	o.looks(stranger)
	worker("0", "dpl-wait --queue q --for change --timeout 60")
	o.want("queues/q.json", "tasks.0.state=absent", "tasks.0.lastEnd=crashed",
		"tasks.0.lastReason=exited", "tasks.0.charged=1", "tasks.1.state=claimed")
	stranger("5", "dpl-settle q --task shell --epoch 1 --done")

	o.killRun(worker)
	poll.Until(o.t, "the task of the killed dpl-work is back", func() bool {
		worker("0", "dpl-queue q --permits all")
		return o.member("queues/q.json", "tasks.1.lastEnd") == "crashed"
	})
	o.want("queues/q.json", "tasks.1.state=absent", "tasks.1.lastReason=exited",
		"tasks.1.charged=1")
	stranger("5", "dpl-settle q --task run --epoch 2 --done")
}

// testClaimsOfHosts has claims of another host, which nobody here takes, though there are no such
// processes here. Then it uses what gives the tasks back all the same.
func testClaimsOfHosts(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("unset DPL_OP; hostname other", "-Uru", "-u")
	o.claims(c.exits)
	o.looks(o.shell)
	o.shell("0", "dpl-enqueue q --id limited -- true; dpl-enqueue q --id cancelled -- true")
	c.exits("0", "dpl-claim q --participant l --pid $$ --deadline 1h")
	c.exits("0", "dpl-claim q --participant c --pid $$")
	killShell(c.exits)
	o.killRun(c.exits)
	stands := func(states string) {
		t.Helper()
		o.shell("0", "dpl-cleanup")
		o.shell("0", "dpl-queue q --permits all")
		o.want("queues/q.json", "tasks.*.state="+states)
	}
	stands("claimed claimed claimed claimed")

	// The heartbeats of its call end the claim of dpl-work.
	beaten := o.lastBeat("operations/q.run.2.json")
	o.shell("0", "dpl-queue q --permits all --now "+beaten.Add(10*time.Second).Format(milliseconds))
	stands("claimed claimed claimed claimed")
	o.shell("0", "dpl-queue q --permits all --now "+
		beaten.Add(10*time.Second+time.Millisecond).Format(milliseconds))
	o.want("queues/q.json", "tasks.1.lastEnd=crashed", "tasks.1.lastReason=call crashed",
		"tasks.1.charged=1")
	c.exits("5", "dpl-settle q --task run --epoch 2 --done")

	// A deadline ends a claim, be its process alive or not, and not earlier.
	limited := 2
	before := o.passed(limited, time.Hour-time.Millisecond)
	over := o.passed(limited, time.Hour)
	o.shell("0", "dpl-queue q --permits all"+before)
	o.want("queues/q.json", "tasks.2.state=claimed")
	o.shell("0", "dpl-queue q --permits all"+over)
	o.want("queues/q.json", "tasks.2.lastEnd=timedOut", "tasks.2.lastReason=deadline",
		"tasks.2.charged=1")
	c.exits("5", "dpl-settle q --task limited --epoch 3 --done")

	// Without either, people cancel the task, or settle it for its claimer.
	o.shell("0", "dpl-cleanup"+o.passed(taskShell, month))
	o.want("queues/q.json", "tasks.0.state=claimed", "tasks.3.state=claimed")
	o.shell("0", "dpl-enqueue q --cancel cancelled")
	o.want("queues/q.json", "tasks.len=3", "ended.0.taskId=cancelled", "ended.0.end=cancelled")
	c.exits("5", "dpl-settle q --task cancelled --epoch 4 --done")
	o.shell("0", "dpl-settle q --task shell --epoch 1 --release")
	o.want("queues/q.json", "tasks.0.state=absent", "tasks.0.lastEnd=released",
		"tasks.0.charged=absent")
	c.exits("76", "dpl-settle q --task shell --epoch 1 --done")
	o.shell("0", "dpl-claim q --participant new --deadline 1h --task shell")
	o.shell("0", "dpl-settle q --task shell --epoch 5 --release")
	c.exits("5", "dpl-settle q --task shell --epoch 1 --done")

	// A worker that lives there learns that its task is cancelled here.
	c.exits("0", "{ dpl-work q --once >run.said 2>&1; echo $? >status; } & :")
	poll.Until(t, "the other host does the task", func() bool {
		_, err := os.Stat(filepath.Join(o.dir, "ledger/operations/q.shell.6.json"))
		return err == nil
	})
	o.shell("0", "dpl-enqueue q --cancel shell && dpl-wait --queue q --task shell --for settled --timeout 60")
	o.want("queues/q.json", "ended.1.taskId=shell", "ended.1.lastEnd=cancelled")
	if status := o.pidIn("status"); status != 3 {
		t.Errorf("dpl-work there: got %d, want 3", status)
	}
}

// lastBeat returns the time of the only heartbeat of an operation.
func (o *observed) lastBeat(file string) time.Time {
	o.t.Helper()
	last, err := time.Parse(time.RFC3339, o.member(file, "stack.0.lastHeartbeat"))
	if err != nil {
		o.t.Fatal(err)
	}
	return last.UTC()
}

// queueRecord is the record of the queue q. A queue whose file alone is set back is repaired first.
const queueRecord = "queues/q.audit.jsonl"

// testClaimsSilent kills an attempt where its pids mean nothing here. Its call is judged by its
// heartbeats. Whoever wants a task, or waits for one, grants the call its grace, and then finds
// that it crashed, even if nobody makes a pass over its operation (spec §35.2, §38.1).
func testClaimsSilent(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("unset DPL_OP", ownPID...)
	o.claims(c.exits)
	o.killRun(c.exits)
	ledger := filepath.Join(o.dir, "ledger")
	saved := make(map[string]string)
	for _, name := range []string{"queues/q.json", queueRecord, "operations/q.run.2.json"} {
		data, err := os.ReadFile(filepath.Join(ledger, name))
		if err != nil {
			t.Fatal(err)
		}
		saved[name] = string(data)
	}

	const operation, threshold = "operations/q.run.2.json", 10*time.Second + time.Millisecond
	for _, look := range []struct{ early, then string }{
		{"0 dpl-cleanup", "0 dpl-queue q --permits all"},
		{"1 dpl-claim q --participant p --deadline 1h", "0 dpl-claim q --participant p --deadline 1h"},
		{"75 dpl-work q --once -- true", "0 dpl-work q --once -- true"},
		{"0 dpl-work q -- true", "1 dpl-work q -- true"},
		{"124 dpl-wait --queue q --for change --timeout 0.05s",
			"0 dpl-wait --queue q --for change --timeout 60"},
	} {
		for name, text := range saved {
			write(t, filepath.Join(ledger, name), text, 0o600)
		}
		do := func(line string) {
			status, command, _ := strings.Cut(line, " ")
			o.shell(status, "rm -f ledger/queues/tasks/q/run~3.log; "+command)
		}

		o.aged(operation, threshold)
		do(look.early)
		o.want("queues/q.json", "tasks.0.claim.epoch=1", "tasks.1.claim.epoch=2")
		if o.member(operation, "stack.0.grace.at") == "absent" {
			t.Errorf("%s: no grace", look.early)
		}
		o.aged(operation, threshold)
		do(look.then)
		if got := o.member("queues/q.json", "counters.ends.crashed"); got != "1" {
			t.Errorf("%s: crashed: %s, want 1", look.then, got)
		}
	}
}

// testClaimsOfBoots has claims of another boot. They stand as long as they may be those of another
// machine with the same name. Those from before this boot began are over, uncharged, for whoever
// looks, in whichever way.
func testClaimsOfBoots(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	write(t, o.dir+"/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n", 0o644)
	c := o.container("unset DPL_OP; mount --bind boot_id /proc/sys/kernel/random/boot_id", "-Urm", "-m")
	o.claims(c.exits)
	c.exits("0", "dpl-enqueue q --id later --delay 10s -- true")
	o.want("queues/q.json", "tasks.0.claim.process.bootId=01234567-89ab-cdef-0123-456789abcdef")
	for _, by := range []observer{c.exits, o.shell} {
		by("0", "dpl-queue q --permits all")
		by("1", "dpl-claim q --participant other --deadline 1h")
		o.want("queues/q.json", "tasks.*.claim.epoch=1 2 absent", "counters.ends=absent")
	}
	if t.Failed() {
		t.FailNow()
	}

	killShell(c.exits)
	o.killRun(c.exits)
	o.stepped("queues/q.json", uptime(t)+time.Minute)
	rebooted := filepath.Join(o.dir, "ledger/queues/q.json")
	before, err := os.ReadFile(rebooted)
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(o.dir, "ledger", queueRecord)
	recorded, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}

	for _, look := range []string{
		"dpl-wait --queue q --for change --timeout 60",
		"dpl-queue q --permits all",
		"dpl-cleanup",
		"dpl-enqueue q --id new -- true",
		"test \"$(dpl-claim q --pid $$)\" = 'shell 3'",
		"test \"$(dpl-claim q --wait --pid $$)\" = 'shell 3'",
		"dpl-work q --once -- true && dpl-status --queue q --why shell | grep -q done",
		"dpl-work q -- true",
	} {
		write(t, rebooted, string(before), 0o600)
		write(t, record, string(recorded), 0o600)
		o.shell("0", "rm -f ledger/queues/tasks/q/shell~3.log; "+look)
		if strings.HasPrefix(look, "dpl-work") {
			o.want("queues/q.json", "ended.0.taskId=shell", "counters.ends.rebooted=2")
			if !strings.Contains(look, "--once") {
				o.want("queues/q.json", "ended.1.taskId=run", "ended.2.taskId=later", "tasks.len=0")
			}
			continue
		}
		o.want("queues/q.json", "tasks.0.lastEnd=rebooted", "tasks.0.lastJudged=true",
			"tasks.0.seq=1", "tasks.0.charged=absent", "tasks.1.lastEnd=rebooted",
			"tasks.1.charged=absent", "counters.ends.rebooted=2")
		c.exits("5", "dpl-settle q --task shell --epoch 1 --done")
		if t.Failed() {
			t.Fatal(look)
		}
	}
}

// testClaimsOfTimes has claims of a time namespace, whose processes have no identity. Nobody takes
// them, from in there or out here, before their deadline on the wall clock.
func testClaimsOfTimes(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	ahead := o.container("unset DPL_OP", "-UrT --monotonic 86400 --boottime 86400",
		"-T --monotonic 86400 --boottime 86400")
	o.claims(ahead.exits)
	o.want("queues/q.json", "tasks.*.claim.process=absent absent", "tasks.*.claim.beat=absent absent")
	o.looks(ahead.exits)
	o.looks(o.shell)
}

// The claimer is killed, and its number taken, even by one that claims, too.
func recycledClaimer(o *observed) {
	worker := o.sleeper()
	start, _ := proc.StartTicks(worker.Process.Pid)
	pid := strconv.Itoa(worker.Process.Pid)
	o.run("dpl-enqueue", "q", "--id", "one", "--", "true")
	o.run("dpl-claim", "q", "--pid", pid)
	o.exits("76", "dpl-claim", "q", "--pid", pid)
	die(worker)
	s := o.recycle(worker.Process.Pid, start)
	if got := o.run("dpl-claim", "q", "--pid", pid, "--task", "one"); got != "one 2\n" {
		o.t.Errorf("the stranger has claimed %q", got)
	}
	o.want("queues/q.json", "tasks.0.lastEnd=crashed", "tasks.0.lastReason=exited",
		"tasks.0.charged=1")
	o.exits("5", "dpl-settle", "q", "--task", "one", "--epoch", "1", "--done")
	s.unharmed(o)
}

// An attempt of dpl-work is killed, or also its keeper. Whoever gets their numbers keeps no claim.
func recycledAttempt(o *observed) {
	run, keeper := o.attempt()
	command := o.pidIn("command")
	start, _ := proc.StartTicks(run.Process.Pid)
	ofCommand, _ := proc.StartTicks(command)
	die(run)
	first := o.recycle(run.Process.Pid, start)
	second := o.recycle(command, ofCommand) // which the keeper has ended
	poll.Until(o.t, "the keeper has ended", func() bool {
		_, alive := proc.StartTicks(keeper)
		return !alive
	})
	o.run("dpl-queue", "q", "--permits", "all")
	o.want("queues/q.json", "tasks.0.state=absent", "tasks.0.lastEnd=crashed", "tasks.0.charged=1")
	first.unharmed(o)
	second.unharmed(o)
}

func recycledKeeper(o *observed) {
	run, keeper := o.attempt()
	start, _ := proc.StartTicks(run.Process.Pid)
	ofKeeper, _ := proc.StartTicks(keeper)
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		o.t.Fatal(err)
	}
	poll.Until(o.t, "the keeper has ended", func() bool {
		_, alive := proc.StartTicks(keeper)
		return !alive
	})
	o.run("dpl-queue", "q", "--permits", "all")
	o.want("queues/q.json", "tasks.0.claim.epoch=1")
	die(run)
	first, second := o.recycle(run.Process.Pid, start), o.recycle(keeper, ofKeeper)
	o.run("dpl-queue", "q", "--permits", "all")
	o.want("queues/q.json", "tasks.0.state=absent", "tasks.0.lastEnd=crashed", "tasks.0.charged=1")
	first.unharmed(o)
	second.unharmed(o)
}

// attempt starts an attempt, whose command writes its pid to the file command.
func (o *observed) attempt() (run *exec.Cmd, keeper int) {
	o.t.Helper()
	o.run("dpl-queue", "q", "--create", "--backoff", "0")
	o.run("dpl-enqueue", "q", "--id", "one", "--", "sh", "-c", "echo $$ >command; exec sleep 600")
	run = o.command("dpl-work", "q", "--once", "--kill-after", "0.3s")
	o.launch(run)
	o.pidIn("command")
	keeper, err := strconv.Atoi(o.member("queues/q.json", "tasks.0.claim.keeper.pid"))
	if err != nil {
		o.t.Fatal(err)
	}
	return run, keeper
}
