package job

import (
	"syscall"
	"time"
)

// An End is how a process of a job ended.
type End struct {
	Code   int            // its exit code; -1 if another part of this process has waited for it
	Signal syscall.Signal // the signal that killed it, or 0
	Dumped bool           // with a core dump

	// What it and the children that it waited for have used; 0: unknown.
	CPU    time.Duration // in whole milliseconds
	MaxRSS int64         // the most memory that one of them had resident, in KiB

	// Interrupted is true if Ctrl-C or Ctrl-\ reached the leader and not us: it died of SIGINT or
	// SIGQUIT while the job was the foreground of the terminal, and Signal had not sent one within
	// the last second. After Job.Close the caller passes that signal on with PassOn.
	Interrupted bool
}
