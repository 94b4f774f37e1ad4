//go:build linux

package nights

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A kind is what happens in a night.
type kind struct {
	name  string
	call  string // whose process is killed
	disks bool   // it needs small disks
	do    func(w *world, n *night, ended <-chan struct{})
}

// undisturbed is a night in which nothing happens.
var undisturbed = kind{name: "nothing"}

var kinds = []kind{
	undisturbed,
	{"dump killed", "dump", false, killed("dump", isCommand, `\bdump\b.*`+byKill)},
	{"gzip killed", "gzip", false, killed("gzip", isCommand, `\bgzip\b.*`+byKill)},
	{"upload killed", "upload", false, killed("upload", isCommand, `\bupload\b.*`+byKill)},
	{"dpl-run of dump killed", "dump", false, killed("dump", isRunner, `\bdump\b.*`+isGone)},
	{"dpl-run of gzip killed", "gzip", false, killed("gzip", isRunner, `\bgzip\b.*`+isGone)},
	{"dpl-run of upload killed", "upload", false, killed("upload", isRunner, `\bupload\b.*`+isGone)},
	{"keeper of dump killed", "dump", false, killed("dump", isKeeper, "")},
	{"keeper of gzip killed", "gzip", false, killed("gzip", isKeeper, "")},
	{"keeper of upload killed", "upload", false, killed("upload", isKeeper, "")},
	{"shell killed", "", false, killed("", isCommand, `\bsh-.*`+byKill)},
	{"first dpl-run killed", "", false, killed("", isRunner, `\bsh-.*`+isGone)},
	{"first keeper killed", "", false, killed("", isKeeper, "")},
	{"everything killed", "", false, everything},
	{"reboot", "", false, reboot},
	{"database stopped", "", false, databaseStopped},
	{"disk full", "", true, diskFull},
	{"ledger's disk full", "", true, ledgerFull},
	{"second start", "", false, overlap},
}

// The words for a command that was killed, and for a dpl-run that is gone.
const (
	byKill = `(SIGKILL|signal 9|exit status 137)`
	isGone = `(gone|exited|killed)`
)

func (p process) isOuter() bool { return p.is("dpl-run", "--op", "nightly") }

// one returns the process for which is returns true, or nil.
func (w *world) one(is func(process) bool) *process {
	for _, p := range w.processes() {
		if is(p) {
			return &p
		}
	}
	return nil
}

// runner returns the dpl-run of a call; that of "" is the outermost.
func (w *world) runner(call string) *process {
	return w.one(func(p process) bool {
		return call == "" && p.isOuter() || call != "" && p.is("dpl-run", "--call", call)
	})
}

// A role is one of the processes of a call, whose dpl-run is runner.
type role func(w *world, runner process) *process

func isRunner(_ *world, runner process) *process { return &runner }

func isKeeper(w *world, runner process) *process {
	return w.one(func(p process) bool { return p.parent == runner.pid && p.is("dpl-keeper") })
}

func isCommand(w *world, runner process) *process {
	return w.one(func(p process) bool {
		return p.parent == runner.pid && !p.is("dpl-keeper") && !p.is("dpl-run")
	})
}

// find waits until a process of a call has started and the call is in the ledger, and then for a
// random time. It returns nil if the night ends before.
func (w *world) find(call string, is role, ended <-chan struct{}) (found *process) {
	poll.Within(poll.Patience, func() bool {
		if op, err := read(w.file()); err == nil && op.State == "running" &&
			(call == "" && len(op.Stack) > 0 || op.has(call)) {
			if runner := w.runner(call); runner != nil {
				found = is(w, *runner)
			}
		}
		return found != nil || w.hasEnded(ended)
	})
	time.Sleep(w.upTo(700 * time.Millisecond))
	return found
}

// killed kills a process of a call. Without a cause, the night has to publish all the same.
func killed(call string, is role, cause string) func(*world, *night, <-chan struct{}) {
	return func(w *world, n *night, ended <-chan struct{}) {
		n.cause, n.publishes = cause, cause == ""
		if p := w.find(call, is, ended); p != nil && w.kill(*p) {
			n.disturbed = time.Now()
			n.outer = call == "" && p.isOuter()
			if p.is("dpl-run") {
				n.runner = call
			}
		}
	}
}

// everything kills everything at once.
func everything(w *world, n *night, ended <-chan struct{}) {
	n.cause, n.outer = `\bsh-.*`+isGone, true
	if w.find("", isRunner, ended) != nil && w.runner("") != nil {
		n.disturbed = time.Now()
		w.killAll()
	}
}

// reboot kills everything at once, and then boots: what the ledger says is of the boot before.
func reboot(w *world, n *night, ended <-chan struct{}) {
	everything(w, n, ended)
	if n.disturbed.IsZero() {
		return
	}

	n.cause, n.rebooted = `\bsh-.*reboot`, true
	n.undo = func() {
		if err := w.ageLedger(); err != nil {
			w.fault(n, "the rig: %v", err)
		}
	}
}

var (
	times = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	boots = regexp.MustCompile(`("bootId": *)"[^"]*"`)
)

// ageLedger moves what the file of the job says to an hour before this boot, in another one.
func (w *world) ageLedger() error {
	var now syscall.Sysinfo_t
	if err := syscall.Sysinfo(&now); err != nil {
		return err
	}

	by := time.Duration(now.Uptime)*time.Second + time.Hour
	text, err := os.ReadFile(w.file())
	if err != nil {
		return err
	}

	const form = `"2006-01-02T15:04:05.000Z"`
	text = boots.ReplaceAll(text, []byte(`${1}"01234567-89ab-cdef-0123-456789abcdef"`))
	text = times.ReplaceAllFunc(text, func(at []byte) []byte {
		then, err := time.Parse(form, string(at))
		if err != nil {
			return at
		}
		return []byte(then.Add(-by).Format(form))
	})
	return os.WriteFile(w.file(), text, 0o600)
}

// databaseStopped stops the database server in the middle of the dump.
func databaseStopped(w *world, n *night, ended <-chan struct{}) {
	n.cause = `\bdump\b.*exit status 1\b`
	if w.find("dump", isCommand, ended) != nil {
		n.disturbed = time.Now()
		w.db.stop()
		n.undo = w.db.start
	}
}

// diskFull fills the disk of the published file during the upload, until the end of the night.
func diskFull(w *world, n *night, ended <-chan struct{}) {
	n.cause = `\bupload\b.*exit status`
	if w.script == "last.sh" { // the upload is no call: what is seen first is what it leads to
		n.cause = `\b(sh-.*exit status|gzip\b.*SIGPIPE)`
	}
	if w.find("dump", isCommand, ended) != nil {
		n.disturbed = time.Now()
		w.fill(n, w.backup())
		n.undo = func() { os.Remove(filepath.Join(w.backup(), ballast)) }
	}
}

// ledgerFull also fills the disk of the ledger, for some seconds.
func ledgerFull(w *world, n *night, ended <-chan struct{}) {
	diskFull(w, n, ended)
	n.cause = `\b(dump|gzip|upload|sh-.*)\b`
	if !n.disturbed.IsZero() {
		w.fill(n, w.dir)
		time.Sleep(2*time.Second + w.upTo(2*time.Second))
		os.Remove(filepath.Join(w.dir, ballast))
	}
}

const ballast = "ballast"

// fill leaves no space on the disk of dir.
func (w *world) fill(n *night, dir string) {
	file, err := os.Create(filepath.Join(dir, ballast))
	if err != nil {
		w.fault(n, "the rig: %v", err)
		return
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		w.fault(n, "the rig: %v", err)
	}
}

// overlap starts the job again while it runs. The second start is refused, and the first publishes.
func overlap(w *world, n *night, ended <-chan struct{}) {
	n.publishes = true
	if w.find("", isCommand, ended) == nil || w.runner("") == nil {
		return
	}

	n.disturbed = time.Now()
	status, mail := w.play(w.line)
	switch {
	case status == 75 && strings.Contains(mail, "running since"):
		w.refused++
	case w.runner("") == nil && status == 0: // the first had ended
	default:
		w.fault(n, "the second start exits %d, want 75: %q", status, mail)
	}
}
