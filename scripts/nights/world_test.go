//go:build linux

package nights

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// A world is a user with a ledger, a database, a crontab and a nightly job.
//
// Its processes are known by the ledger in their environment. Keepers have none there: they are
// known by their program, which is a copy in the world's directory.
type world struct {
	dir       string
	spool     string // the directory of the database, of the mail program, and of the mails of cron
	script    string // of the job, in testdata
	line      string // of the crontab, which starts the job
	variables []string
	db        *database
	reader    *reader
	choose    *rand.Rand
	disks     bool // the ledger and the published file are on small disks of their own
	cron      bool // a real cron starts the job

	count   int      // nights
	refused int      // starts that overlapped
	unread  string   // mails that no night has accounted for
	pending []*night // those that have failed and have not been reported yet
	fails   int      // nights that have failed
	broken  int      // files of the reader that are faults already
	faults  []string
	tallies map[string]*tally
}

// cleanup is the other line of the crontab.
const cleanup = "dpl-cleanup --if-exists"

// A place is where worlds are made.
type place struct {
	bin   string // the commands
	disks bool   // this process may mount file systems, and nobody else sees them
	seed  uint64
}

// newWorld makes a world whose job is a script in testdata. n distinguishes it from other worlds.
func (p place) newWorld(t testing.TB, n uint64, script string) *world {
	dir, err := os.MkdirTemp("", "nights") // short, because the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}

	w := &world{dir: dir, script: script, disks: p.disks, tallies: make(map[string]*tally),
		choose: rand.New(rand.NewPCG(p.seed, n))}
	t.Cleanup(func() {
		w.killAll()
		for _, disk := range []string{"backup", ""} {
			if p.disks {
				syscall.Unmount(filepath.Join(dir, disk), syscall.MNT_DETACH)
			}
		}
		os.RemoveAll(dir)
	})

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	if p.disks {
		must(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=711"))
	}
	must(os.Chmod(dir, 0o711)) // the server of the database is another user
	must(os.Mkdir(w.backup(), 0o700))
	if p.disks {
		must(syscall.Mount("tmpfs", w.backup(), "tmpfs", 0, "size=8m,mode=700"))
	}

	// The mails and the database are on a disk that is never full.
	w.spool, err = os.MkdirTemp("", "nights")
	must(err)
	t.Cleanup(func() { os.RemoveAll(w.spool) })
	must(os.Chmod(w.spool, 0o711))

	for name, dir := range map[string]string{script: dir, "line.pl": dir, "sendmail.sh": w.spool} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		must(err)
		must(proc.WriteProgram(filepath.Join(dir, name), text, 0o755))
	}
	if out, err := exec.Command("cp", "-a", p.bin, w.bin()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	w.db = newDatabase(t, filepath.Join(w.spool, "db"))

	w.variables = append(w.db.variables(), "PATH="+w.bin()+":"+w.db.bin+":"+os.Getenv("PATH"),
		"DPL_LEDGER="+w.ledger(), "LC_ALL=C")
	w.line = "cd " + dir + " && dpl-run --op nightly --timeout 2m -- sh " + script
	w.reader = startReader(w.published())
	t.Cleanup(w.reader.close)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }
func (w *world) bin() string             { return w.path("bin") }
func (w *world) ledger() string          { return w.path("ledger") }
func (w *world) backup() string          { return w.path("backup") }
func (w *world) published() string       { return filepath.Join(w.backup(), "latest.sql.gz") }

func (w *world) fault(n *night, format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if n != nil {
		text = fmt.Sprintf("%s: night %d (%s): %s", w.script, n.number, n.kind, text)
	}
	w.faults = append(w.faults, text)
}

// upTo returns a random duration.
func (w *world) upTo(limit time.Duration) time.Duration {
	return time.Duration(w.choose.Int64N(int64(limit)))
}

// command returns a command that runs a line as cron does.
func (w *world) command(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = append([]string{"HOME=" + w.dir, "LOGNAME=backup", "SHELL=/bin/sh"}, w.variables...)
	cmd.Stdin = strings.NewReader("")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// play runs a line to the end of its output, as cron does, which mails that output.
func (w *world) play(line string) (status int, mail string) {
	var out bytes.Buffer
	cmd := w.command(line)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Run()
	return exitStatus(cmd), out.String()
}

// exitStatus returns the exit status of a command, 128 + n after signal n.
func exitStatus(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return -1
	}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// A process is one of a world.
type process struct {
	pid, parent int
	words       []string
}

func (p process) String() string { return fmt.Sprintf("%d %q", p.pid, p.words) }

// is reports whether p runs a program with this word among its arguments, if there is one.
func (p process) is(program string, arguments ...string) bool {
	if len(p.words) == 0 || filepath.Base(p.words[0]) != program {
		return false
	}
	for _, a := range arguments {
		if !slices.Contains(p.words[1:], a) {
			return false
		}
	}
	return true
}

func (w *world) processes() (all []process) {
	for _, pid := range proc.PIDs() {
		if w.owns(pid) {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			if len(fields) < 2 || fields[0] == "Z" {
				continue
			}
			parent, _ := strconv.Atoi(fields[1])
			words := strings.Split(strings.TrimRight(string(text), "\x00 "), "\x00")
			all = append(all, process{pid, parent, words})
		}
	}
	return all
}

func (w *world) owns(pid int) bool {
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return filepath.Dir(program) == w.bin() ||
		bytes.Contains(environment, []byte("\x00DPL_LEDGER="+w.ledger()+"\x00"))
}

// kill sends SIGKILL to a process, and reports whether it was still there. It sends nothing if
// another process has its pid.
func (w *world) kill(p process) bool { return proc.Signal(p.pid, syscall.SIGKILL, w.owns) }

// killAll kills all processes. It stops them first, so that none sees how another dies, and kills each
// one before its parent: the kernel sends HUP and CONT to a group that is stopped and loses its last
// parent outside, and where HUP is ignored, as below nohup, it would go on.
func (w *world) killAll() {
	for quiet := 0; quiet < 3; time.Sleep(time.Millisecond) {
		quiet++
		all := w.stopAll()
		parents := make(map[int]int)
		for _, p := range all {
			parents[p.pid] = p.parent
		}
		depth := func(p process) (n int) {
			for at, is := p.parent, true; is; at, is = parents[at] {
				n++
			}
			return n
		}
		slices.SortStableFunc(all, func(a, b process) int { return cmp.Compare(depth(b), depth(a)) })
		for _, p := range all {
			syscall.Kill(p.pid, syscall.SIGKILL)
			quiet = 0
		}
	}
}

// stopAll stops all processes, also those that were forked meanwhile: one that is missed would see
// the end of another one.
func (w *world) stopAll() (all []process) {
	stopped := make(map[int]bool)
	for more := true; more; {
		more, all = false, w.processes()
		for _, p := range all {
			syscall.Kill(p.pid, syscall.SIGSTOP)
			more, stopped[p.pid] = more || !stopped[p.pid], true
		}
	}
	return all
}

// An operation is what the rig reads of a file of the ledger.
type operation struct {
	State       string
	Stack       []struct{ CallID string }
	Transitions []struct{ To, Reason string }
	Events      []event
}

type event struct {
	At                 time.Time
	Type, From, CallID string
}

func (op operation) has(call string) bool {
	return slices.ContainsFunc(op.Stack, func(f struct{ CallID string }) bool {
		return f.CallID == call
	})
}

// ended reports whether a call has ended and was not found crashed.
func (op operation) ended(call string) bool {
	return slices.ContainsFunc(op.Events, func(e event) bool {
		return e.Type == "callEnded" && e.CallID == call && e.From != "crashed" && e.From != "cleanedUp"
	})
}

// began returns when the first call began, or when the oldest event was that is still recorded.
func (op operation) began() (at time.Time) {
	if len(op.Events) > 0 {
		at = op.Events[0].At
	}
	return at
}

func (w *world) file() string { return filepath.Join(w.ledger(), "operations", "nightly.json") }

func read(path string) (op operation, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &op)
	}
	return op, err
}

// archived returns the files of earlier runs.
func (w *world) archived() []string {
	files, _ := filepath.Glob(filepath.Join(w.ledger(), "archive", "nightly*.json"))
	return files
}

// last returns the newest run of the job that the ledger has, or a zero one.
func (w *world) last() (last operation) {
	if op, err := read(w.file()); err == nil {
		return op
	}
	var newest time.Time
	for _, path := range w.archived() {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			if op, err := read(path); err == nil {
				last, newest = op, info.ModTime()
			}
		}
	}
	return last
}

// kept is how many failed runs an archive keeps at most.
const kept = 1000

// end checks what must be true after the last night.
func (w *world) end() {
	for range enough {
		w.cleanUp(nil)
	}
	w.settle(nil)

	if !poll.Within(poll.Patience, func() bool { return len(w.processes()) == 0 }) {
		w.fault(nil, "%s: processes are left: %v", w.script, w.processes())
	}
	if status, out := w.play("dpl-doctor --quiet"); status != 0 {
		w.fault(nil, "%s: dpl-doctor exits %d: %s", w.script, status, out)
	}

	failed := 0
	for _, path := range append(w.archived(), w.file()) {
		if op, err := read(path); err == nil && op.State == "failed" {
			failed++
		}
	}
	if failed < min(w.fails, kept) || failed > w.fails {
		w.fault(nil, "%s: the ledger has %d failed runs, and %d nights have failed", w.script, failed,
			w.fails)
	}

	filepath.WalkDir(w.backup(), func(path string, e fs.DirEntry, err error) error {
		if name := e.Name(); !e.IsDir() && name != "latest.sql.gz" &&
			(name != "part" || w.script == "to.sh") {
			w.fault(nil, "%s: %s is left", w.script, name)
		}
		return err
	})
}
