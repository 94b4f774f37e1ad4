package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Env is the surroundings of a command: its session, its flags, and its output. A write to Stderr
// waits for no reader: see package messages.
type Env struct {
	*session.Session
	Program        string
	Stdout, Stderr io.Writer

	messages  *messages.Writer // Stderr
	flags     *Common
	inherited bool // $DPL_OP names the operation, and no flag
}

// lostMessages returns the message that n messages are lost.
func (env *Env) lostMessages(n int) string {
	return fmt.Sprintf("%s: %d more messages are lost: stderr was not read\n",
		harmless.Text(env.Program), n)
}

// Flush writes the messages so far, if there is a reader for them. See messages.Writer.
func (env *Env) Flush() { _ = env.messages.Flush() } // there is nowhere to report an error

// Print is Warnf, and returns an error if the message, or one before it, could not be written.
func (env *Env) Print(format string, args ...any) error {
	if entry.Closed(2) {
		return errNoStderr
	}
	env.Warnf(format, args...)
	if err := env.messages.Flush(); err != nil {
		return fmt.Errorf("stderr: %w", err)
	}
	return nil
}

// Settle lets the messages so far precede what others write to stderr.
func (env *Env) Settle() { env.messages.Settle() }

// OwnMessages makes all messages go through wrap(stderr).
func (env *Env) OwnMessages(wrap func(io.Writer) io.Writer) { env.messages.Through(wrap) }

// MoveMessages makes stderr, under the number that it has in file, the file for messages.
func (env *Env) MoveMessages(file *os.File) { env.messages.MoveTo(file) }

// session returns the session that the flags ask for. reads: the command changes nothing.
func (env *Env) session(reads bool) *session.Session {
	f := env.flags
	return session.New(session.Options{
		Program: env.Program, Reads: reads, Ledger: string(f.Ledger),
		LockTimeout: time.Duration(f.LockTimeout), Sync: syncOf(f.Sync),
		TrustOwner: string(f.TrustOwner), TrustGroup: f.TrustGroup,
		DryRun: f.DryRun, Now: f.Now.Time,
	})
}

func syncOf(word string) disk.Sync {
	switch word {
	case "none":
		return disk.SyncNone
	case "file":
		return disk.SyncFile
	case "full":
		return disk.SyncFull
	}

	return disk.SyncDefault
}

// checkTime refuses to change anything at a time other than the clock's, unless the ledger is for
// replay: that would declare live participants dead, and delete what they use.
func (env *Env) checkTime(c Command) error {
	_, hostTime := c.(HostTimer)
	hostTime = hostTime && !env.flags.Now.IsZero()
	if env.MayEdit() && !hostTime || env.DryRun() || reads(c) {
		return nil
	}

	given := "$DPL_NOW"
	if env.flags.Given("now") {
		given = "--now"
	}
	if hostTime {
		return Usagef("%s is not the clock's time, by which questions expire and rules end: leave it "+
			"out, or give --dry-run", given)
	}
	return Usagef("%s is not the clock's time, and this would change the ledger by it: give "+
		"--dry-run, or set DPL_REPLAY=1 where the ledger is one for tests and replay", given)
}

// reads reports whether c changes nothing.
func reads(c Command) bool {
	reader, ok := c.(Reader)
	return ok && reader.Reads()
}

// MayEdit reports whether the time is the clock's, or the ledger is for replay at other times.
func (env *Env) MayEdit() bool { return env.flags.Now.IsZero() || os.Getenv("DPL_REPLAY") == "1" }

// Again returns the flags that make another command use the ledger as this one does. It inherits
// the environment.
func (env *Env) Again() (flags []string) {
	f := env.flags
	if f.Given("lock-timeout") {
		flags = append(flags, "--lock-timeout="+time.Duration(f.LockTimeout).String())
	}
	if f.Given("sync") {
		flags = append(flags, "--sync="+f.Sync)
	}
	if f.Given("trust-owner") {
		flags = append(flags, "--trust-owner="+string(f.TrustOwner))
	}
	if f.TrustGroup {
		flags = append(flags, "--trust-group")
	}
	return flags
}

// SameTime returns the flag that makes another command use the time that --now gives, if that was
// given. It inherits $DPL_NOW.
func (env *Env) SameTime() (flags []string) {
	if f := env.flags; f.Given("now") {
		flags = append(flags, "--now="+wire.FormatTime(f.Now.Time))
	}
	return flags
}

// Frozen reports whether the clock stands still, at the time of --now or $DPL_NOW.
func (env *Env) Frozen() bool { return !env.flags.Now.IsZero() }

// JSON reports whether to print JSON.
func (env *Env) JSON() bool { return env.flags.JSON }

// Identify returns the process of pid, given by a flag. It is the zero Process for pid 0.
func Identify(pid PID) (observe.Process, error) {
	if pid == 0 {
		return observe.Process{}, nil
	}
	p, err := process.Identify(int(pid))
	if err != nil {
		return observe.Process{}, fmt.Errorf("--pid %d: %w", pid, err)
	}
	return p, nil
}
