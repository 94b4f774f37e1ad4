//go:build unix

package runner

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"golang.org/x/sys/unix"
)

// notForwarded are the signals that concern this process and not the command: those about its
// children, its threads and its job. SIGPIPE, which it gets for its own output, is caught so that
// it does not end this process.
var notForwarded = []syscall.Signal{
	unix.SIGCHLD, unix.SIGURG, unix.SIGPIPE, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
	unix.SIGKILL, unix.SIGSTOP,
}

// early are the signals that may come at any time. Catching one costs two thread switches, so the
// others are caught once the command has run for settled.
var early = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1,
	unix.SIGUSR2}

// Catch starts to catch the signals to be passed on to the command. This process and the
// command ignore those that were ignored when it began, as under nohup or after trap "". The signal
// asks, by which the command is asked to end, is an exception unless it is 0: shells start
// background jobs with SIGINT ignored.
func Catch(asks syscall.Signal) chan os.Signal {
	ignored := ignoredAtEntry()
	signals := make(chan os.Signal, 64)
	notify(signals, early)
	ignoreHere(unix.SIGPIPE)
	for _, sig := range ignored {
		if sig == asks {
			ignoreHere(sig)
		} else {
			signal.Ignore(sig)
		}
	}
	return signals
}

// CatchForTasks is Catch for commands in whose place nobody has ignored anything: this process
// ignores what was ignored when it began, and they do not.
func CatchForTasks() chan os.Signal {
	ignored := ignoredAtEntry()
	signals := make(chan os.Signal, 64)
	notify(signals, early)
	ignoreHere(unix.SIGPIPE)
	for _, sig := range ignored {
		switch sig {
		case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU: // with a handler, a terminal would not stop us
		default:
			ignoreHere(sig)
		}
	}
	return signals
}

// ignoreHere makes this process do nothing at sig. What it starts gets the usual effect of sig,
// because it is not ignored.
func ignoreHere(sig os.Signal) { signal.Notify(make(chan os.Signal, 1), sig) }

// catchAll catches the other signals as well.
func catchAll(signals chan os.Signal) {
	var late []os.Signal
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if !slices.Contains(notForwarded, sig) && !slices.Contains(early, os.Signal(sig)) {
			late = append(late, sig)
		}
	}
	notify(signals, late)
}

const lastSignal = 64

// notify catches those of wanted that were not ignored when this process began.
func notify(signals chan os.Signal, wanted []os.Signal) {
	for _, sig := range wanted {
		if !slices.Contains(ignoredAtEntry(), sig) {
			signal.Notify(signals, sig)
		}
	}
}

var atEntry struct {
	once    sync.Once
	ignored []os.Signal
}

// ignoredAtEntry returns the signals that were ignored when this process began, except those that
// the runtime of Go needs. Where that is unknown, these are SIGHUP and SIGINT at most, of which the
// runtime knows.
func ignoredAtEntry() []os.Signal {
	atEntry.once.Do(func() {
		set, known := entry.Ignored()
		for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
			switch was := set>>(sig-1)&1 != 0; {
			case sig == unix.SIGCHLD, sig == unix.SIGURG, sig == unix.SIGCONT:
			case known && was, !known && signal.Ignored(sig):
				atEntry.ignored = append(atEntry.ignored, sig)
			}
		}
	})
	return atEntry.ignored
}

// CatchStops starts to catch the signal by which a terminal stops what it runs.
func CatchStops(signals chan os.Signal) { notify(signals, []os.Signal{unix.SIGTSTP}) }
