//go:build unix

package work

import (
	"os/signal"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"golang.org/x/sys/unix"
)

// stop stops the attempts and this process, if sig is that signal, and continues the attempts when
// this process is continued.
func (w *workers) stop(sig syscall.Signal) {
	if sig != unix.SIGTSTP {
		return
	}
	w.progress.erase()
	w.send(unix.SIGTSTP)
	job.StopOwnGroup(nil)
	signal.Notify(w.signals, unix.SIGTSTP)
	w.send(unix.SIGCONT)
}
