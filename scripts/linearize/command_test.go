package linearize

import (
	"slices"
	"strings"
	"time"
)

// threshold is that of all operations, in milliseconds.
const threshold = 3000

// A command is one command line.
type command struct {
	verb string // push, heartbeat, pop, ack, abort, cleanup or status
	op   string // "": a cleanup of all operations

	call, participant, supervisor string
	contained, keep, reuse        bool // of a push
	fail, keepOpen                bool // of a pop
	cleaning                      bool // of a heartbeat
	now                           int64
	create                        []string // flags of a push that makes the ledger
}

// program returns the name of the program.
func (c command) program() string {
	if c.verb == "ack" {
		return "dpl-cleanup"
	}
	return "dpl-" + c.verb
}

// args returns its arguments.
func (c command) args() []string {
	args := []string{"--json", "--lock-timeout=2m", "--now=" + stamp(c.now)}
	add := func(given bool, arg ...string) {
		if given {
			args = append(args, arg...)
		}
	}

	add(c.op != "", "--op", c.op)
	add(c.call != "" && c.verb != "ack", "--call", c.call)
	add(c.call != "" && c.verb == "ack", "--ack", c.call)
	add(c.participant != "", "--participant", c.participant)
	add(c.supervisor != "", "--supervisor", c.supervisor)
	add(c.verb == "push", "--staleness=3s", "--interval=1s")
	add(c.contained, "--no-fail-on-crash")
	add(c.keep, "--orphan-policy=keep")
	add(c.reuse, "--reuse")
	add(c.fail, "--fail")
	add(c.keepOpen, "--keep-open")
	add(c.cleaning, "--cleaning")

	return append(args, c.create...)
}

// String returns what is different from one command to the other.
func (c command) String() string {
	common := func(arg string) bool {
		return strings.HasPrefix(arg, "--lock") || arg == "--json" ||
			strings.HasPrefix(arg, "--s") && strings.Contains(arg, "=")
	}
	return c.program() + " " + strings.Join(slices.DeleteFunc(c.args(), common), " ")
}

// begin is the time of the first command, in milliseconds, long before the files are written, so
// that no file looks old.
var begin = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// An answer is what a command said. One that was refused has a status only.
type answer struct {
	silent   bool // it was killed before it said anything
	status   int
	revision int64
	state    string
	changed  bool
	archived bool       // of a cleanup: just now
	crashed  string     // calls, of a heartbeat those reported
	shown    *operation // of a status
}

// equal reports whether two answers are the same.
func (a answer) equal(b answer) bool {
	shown, other := a.shown, b.shown
	a.shown, b.shown = nil, nil
	return a == b && (shown == nil) == (other == nil) && (shown == nil || shown.equal(*other))
}

// over reports whether it says that the operation is.
func (a answer) over() bool {
	return a.status == 4 || a.archived || a.state == "completed" || a.state == "failed" ||
		a.shown != nil && a.shown.terminal()
}

// reported returns the crashed calls.
func (a answer) reported() []string { return strings.Fields(a.crashed) }
