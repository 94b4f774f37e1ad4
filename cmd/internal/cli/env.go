package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// Env is the environment of a command: its flags, the clock, the ledger, and its output.
type Env struct {
	Program        string
	Stdout, Stderr io.Writer

	flags     *Common
	committed bool              // an edit was committed
	inherited bool              // the operation comes from $DPL_OP
	ledgers   []*fileops.Ledger // the opened ledgers, whose leftovers are reported
}

var syncs = map[string]fileops.Sync{"": fileops.SyncDefault, "none": fileops.SyncNone, "file": fileops.SyncFile, "full": fileops.SyncFull}

// checkTime returns an error if the command would change something at a time other than the
// clock's, unless that is a replay. Such a change would kill live processes and delete files in
// use.
func (env *Env) checkTime(c Command) error {
	reader, ok := c.(Reader)
	if env.MayEdit() || env.DryRun() || ok && reader.Reads() {
		return nil
	}

	given := "$DPL_NOW"
	if env.flags.Given("now") {
		given = "--now"
	}
	return Usagef("%s is not the current time, and this would change the ledger: give --dry-run, or set DPL_REPLAY=1 if "+
		"the ledger is only for tests or replay", given)
}

// MayEdit reports whether the time is the clock's, or the ledger is one for replay.
func (env *Env) MayEdit() bool { return env.flags.Now.IsZero() || os.Getenv("DPL_REPLAY") == "1" }

// JSON reports whether to print JSON.
func (env *Env) JSON() bool { return env.flags.JSON }

// DryRun reports whether to change nothing.
func (env *Env) DryRun() bool { return env.flags.DryRun }

// TrustsGroup reports whether to act on data written by other members of the group.
func (env *Env) TrustsGroup() bool { return env.flags.TrustGroup }

// Now returns the time of --now, or of the clock.
func (env *Env) Now() time.Time {
	if !env.flags.Now.IsZero() {
		return env.flags.Now.Time
	}
	return protocol.Moment(time.Now())
}

// Observer returns an observer, each call of which reads the clocks anew. With --now there is no
// monotonic clock, so ages are relative to the given time, and the observer counts as awake (spec
// §4.6). Each observation looks at a process only once, even if it is judged several times, so that
// it cannot end in between; the same holds for the survivors of a start. The observer may be used
// by several goroutines, each observation by one.
func (env *Env) Observer() func() protocol.Observation {
	process.Here() // it reads some facts only once; do that before there is a lock
	return func() protocol.Observation {
		// A command may run for days, and the time of the boot moves when the clock is set.
		seen := protocol.Observation{Host: process.Here(), Now: env.Now(), Look: lookOnce(), Survived: surviveOnce()}
		if env.flags.Now.IsZero() {
			seen.MonotonicMs, _ = process.Monotonic()
		} else {
			seen.Watch = protocol.Awake
		}
		return seen
	}
}

func lookOnce() func(protocol.Process) protocol.Presence {
	looked := make(map[protocol.Process]protocol.Presence)
	return func(p protocol.Process) protocol.Presence {
		presence, known := looked[p]
		if !known {
			presence = process.Look(p.PID, p.StartTicks)
			looked[p] = presence
		}
		return presence
	}
}

func surviveOnce() func(*protocol.Service) bool {
	var survived map[string]bool // nil until needed; operations never need it
	return func(s *protocol.Service) bool {
		left, looked := survived[s.StartID]
		if !looked {
			survivors, doubt := process.Survivors(s.Process, s.StartID, s.Keeper)
			left = len(survivors) > 0 || doubt != nil
			if survived == nil {
				survived = make(map[string]bool)
			}
			survived[s.StartID] = left
		}

		return left
	}
}

// ActorID returns the id under which this command does things that no participant does:
// $DPL_PARTICIPANT, or else the name of the program.
func (env *Env) ActorID() (string, error) {
	id, err := ID("").Or("DPL_PARTICIPANT")
	if err == nil && id == "" {
		id = env.Program
	}
	return id, err
}

// Identify returns the process with the pid given by a flag, or the zero Process for pid 0.
func Identify(pid PID) (protocol.Process, error) {
	if pid == 0 {
		return protocol.Process{}, nil
	}
	p, err := process.Identify(int(pid))
	if err != nil {
		return protocol.Process{}, fmt.Errorf("--pid %d: %w", pid, err)
	}
	return p, nil
}

// ledgerDir returns the directory of the ledger.
func (env *Env) ledgerDir() (string, error) {
	if err := checkOpenFiles(); err != nil {
		return "", err
	}
	if dir := env.flags.Ledger; dir != "" {
		return string(dir), nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dpl"), nil
	}

	home, err := os.UserHomeDir()
	if err != nil {
		return "", Usagef("no ledger: set --ledger, $DPL_LEDGER or $HOME")
	}
	return filepath.Join(home, ".local", "state", "dpl"), nil
}

func (env *Env) options() fileops.Options {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = ""
	}
	return fileops.Options{
		LockTimeout: time.Duration(env.flags.LockTimeout), Sync: syncs[env.flags.Sync], TrustGroup: env.flags.TrustGroup, Home: home, Observe: env.Observer(),
	}
}

// Open opens the ledger.
func (env *Env) Open() (*fileops.Ledger, error) {
	dir, err := env.ledgerDir()
	if err != nil {
		return nil, err
	}
	l, err := fileops.Open(dir, env.options())
	return env.opened(l, err)
}

// Inspect surveys the ledger, even if Open refuses it.
func (env *Env) Inspect() (*fileops.Survey, error) {
	dir, err := env.ledgerDir()
	if err != nil {
		return nil, err
	}
	return fileops.Inspect(dir, env.options())
}

// Create opens the ledger, and creates it with c if there is none. With --dry-run it returns an
// absent one instead.
func (env *Env) Create(c fileops.Config) (*fileops.Ledger, error) {
	if env.DryRun() {
		l, err := env.Open()
		if !errors.Is(err, fileops.ErrNoLedger) {
			return l, err
		}
	}

	dir, err := env.ledgerDir()
	if err != nil {
		return nil, err
	}
	if env.DryRun() {
		return fileops.Absent(dir, env.options())
	}

	l, err := fileops.Create(dir, c, env.options())
	return env.opened(l, err)
}

// CheckRoots returns fileops.ErrRoot if one of roots is not fit to be a resource root.
func (env *Env) CheckRoots(roots ...string) error {
	dir, err := env.ledgerDir()
	if err == nil && len(roots) > 0 {
		err = fileops.CheckRoots(dir, roots, env.options())
	}
	return err
}

func (env *Env) opened(l *fileops.Ledger, err error) (*fileops.Ledger, error) {
	if err != nil {
		return nil, err
	}
	env.ledgers = append(env.ledgers, l)
	return l, nil
}

// warnLeftovers reports what could not be deleted.
func (env *Env) warnLeftovers() {
	for _, l := range env.ledgers {
		if err := errors.Join(l.Leftovers()...); err != nil {
			env.Warnf("%v", err)
		}
	}
}
