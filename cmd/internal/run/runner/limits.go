package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/silence"
)

// Check refuses flags that do not go together.
func (f *Flags) Check() error {
	if f.SoftTimeout != 0 && f.Timeout != 0 && f.SoftTimeout >= f.Timeout {
		return cli.Usagef("--soft-timeout %v must be less than --timeout %v",
			time.Duration(f.SoftTimeout), time.Duration(f.Timeout))
	}
	return f.checkSilence()
}

// Limits returns the limits of a silence.
func (f *Flags) Limits() silence.Limits {
	return silence.Limits{Nudge: time.Duration(f.NudgeAfter), Stop: time.Duration(f.Silence)}
}

// checkSilence refuses flags about silence that do not go together.
func (f *Flags) checkSilence() error {
	switch limits := f.Limits(); {
	case limits.Nudge != 0 && f.OnNudge == "":
		return cli.Usagef("--nudge-after goes with --on-nudge CMD, which it runs")
	case limits.Nudge == 0 && f.OnNudge != "":
		return cli.Usagef("--on-nudge goes with --nudge-after D, which says when")
	case limits.Nudge != 0 && limits.Stop != 0 && limits.Stop <= limits.Nudge:
		return cli.Usagef("--silence %v must be more than --nudge-after %v", limits.Stop, limits.Nudge)
	case !limits.Given() && len(f.Output) > 0:
		return cli.Usagef("--output goes with --silence or --nudge-after")
	}
	return nil
}

// CheckOutput refuses flags about silence for a command whose output would never be seen to grow.
// stdout is as for OutputOf.
func (f *Flags) CheckOutput(stdout func() (fs.FileInfo, error)) error {
	if !f.Limits().Given() {
		return nil
	}
	_, err := f.OutputOf(stdout, nil)
	return err
}

// OutputOf returns the files to which the command will write: those of --output, and its stdout and
// stderr. stdout describes the former if it is not that of this process; nil: it is. If unseen is
// nil, OutputOf refuses what would never grow; else it gives files of --output that cannot be seen
// to unseen, because the files of other tasks may be there.
func (f *Flags) OutputOf(stdout func() (fs.FileInfo, error), unseen func(path string, err error)) (
	*silence.Output, error) {
	o := new(silence.Output)
	for _, path := range f.Output {
		err := o.AddPath(string(path))
		switch {
		case err == nil:
		case unseen != nil:
			unseen(string(path), err)
		case errors.Is(err, silence.ErrNotRegular):
			return nil, cli.Usagef("--output %s: %v: name the file that COMMAND writes to", path, err)
		default:
			return nil, fmt.Errorf("--output: %w", err)
		}
	}

	passes := false
	stds := []*os.File{os.Stdout, os.Stderr}
	if stdout != nil {
		stds = stds[1:]
		o.Add(stdout)
	}
	for _, std := range stds {
		if err := o.Add(std.Stat); err != nil && !isNull(std) {
			passes = true
		}
	}
	if len(f.Output) == 0 && (passes || o.Empty()) {
		return nil, cli.Usagef("--silence and --nudge-after: output to a terminal or pipe cannot be " +
			"seen: redirect stdout and stderr to a file, or give --output PATH, a file that " +
			"COMMAND writes to")
	}
	return o, nil
}

// isNull reports whether f throws away what is written to it.
func isNull(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return errors.Join(err, nullErr) == nil && os.SameFile(info, null)
}
