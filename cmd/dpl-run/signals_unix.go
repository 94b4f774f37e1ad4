//go:build unix

package run

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"golang.org/x/sys/unix"
)

// notForwarded are the signals that concern this process and not the command: those about its
// children, its threads and its job. SIGPIPE, which it gets for its own output, is caught so that
// it does not end dpl-run.
var notForwarded = []syscall.Signal{
	unix.SIGCHLD, unix.SIGURG, unix.SIGPIPE, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
	unix.SIGKILL, unix.SIGSTOP,
}

// early are the signals that may come at any time. Catching one costs two thread switches, so the
// others are caught once the command has run for settled.
var early = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1,
	unix.SIGUSR2}

// catch starts to catch the signals to be passed on. Ignored signals, as under nohup, stay ignored,
// except asks, the signal that asks the command to end: shells start background jobs with SIGINT
// ignored.
func catch(asks syscall.Signal) chan os.Signal {
	signals := make(chan os.Signal, 64)
	notify(signals, early)
	caught := []os.Signal{unix.SIGPIPE}
	if signal.Ignored(asks) {
		caught = append(caught, asks)
	}
	signal.Notify(make(chan os.Signal, 1), caught...)
	return signals
}

// catchAll catches the other signals as well.
func catchAll(signals chan os.Signal) {
	var late []os.Signal
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if !slices.Contains(notForwarded, sig) && !slices.Contains(early, os.Signal(sig)) {
			late = append(late, sig)
		}
	}
	notify(signals, late)
}

func notify(signals chan os.Signal, wanted []os.Signal) {
	for _, sig := range wanted {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
}

// heedStops starts to catch the signal by which a terminal stops what it runs.
func heedStops(signals chan os.Signal) { notify(signals, []os.Signal{unix.SIGTSTP}) }

// stop stops the attempts and this process, if sig is that signal, and continues the attempts when
// this process is continued.
func (w *workers) stop(sig syscall.Signal) {
	if sig != unix.SIGTSTP {
		return
	}
	w.progress.erase()
	w.send(unix.SIGTSTP)
	job.StopOwnGroup()
	signal.Notify(w.signals, unix.SIGTSTP)
	w.send(unix.SIGCONT)
}
