package runner

import (
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Flags are those of all commands that run another command.
type Flags struct {
	Timeout     cli.Span   `placeholder:"D"`
	SoftTimeout cli.Span   `placeholder:"D"`
	SoftSignal  cli.Signal `default:"INT" placeholder:"SIG"`
	KillAfter   cli.Pause  `default:"5s" placeholder:"D"`
	OK          Success    `placeholder:"LIST"`
	NudgeAfter  cli.Span   `placeholder:"D"`
	OnNudge     cli.Word   `placeholder:"CMD"`
	Silence     cli.Span   `placeholder:"D"`
	Output      []cli.Path `placeholder:"PATH"`
	StatusFD    *cli.Count `placeholder:"N"`
}

// Notifying has the flags of commands that run another command which may report its state by
// sd_notify.
type Notifying struct {
	Notify   bool
	Watchdog cli.Span `placeholder:"D"`
}

// Check refuses flags that do not go together.
func (n *Notifying) Check() error {
	if n.Watchdog != 0 && !n.Notify {
		return cli.Usagef("--watchdog goes with --notify")
	}
	return nil
}

// Asks returns the signal by which the command is asked to end before its time, or 0.
func (f *Flags) Asks() syscall.Signal {
	if f.SoftTimeout == 0 {
		return 0
	}
	return syscall.Signal(f.SoftSignal)
}
