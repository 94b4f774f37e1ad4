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

// Env is where a command runs: its flags, the clock, the ledger, and where it prints.
type Env struct {
	Program        string
	Stdout, Stderr io.Writer

	flags     *Common
	committed bool              // an edit was
	inherited bool              // the operation is that of $DPL_OP
	ledgers   []*fileops.Ledger // opened, to ask for leftovers
}

var syncs = map[string]fileops.Sync{"": fileops.SyncDefault, "none": fileops.SyncNone, "file": fileops.SyncFile, "full": fileops.SyncFull}

// checkTime refuses to change anything by a time that is not the clock's, except where that is replayed: it would kill who
// lives, and delete what is in use.
func (env *Env) checkTime(c Command) error {
	reader, ok := c.(Reader)
	if env.MayEdit() || env.DryRun() || ok && reader.Reads() {
		return nil
	}
	given := "$DPL_NOW"
	if env.flags.Given("now") {
		given = "--now"
	}
	return Usagef("%s is not the clock's time, and this would change the ledger by it: give --dry-run, or set DPL_REPLAY=1 where "+
		"the ledger is one for tests and replay", given)
}

// MayEdit reports whether the time is the clock's, or the ledger one on which other times are replayed.
func (env *Env) MayEdit() bool { return env.flags.Now.IsZero() || os.Getenv("DPL_REPLAY") == "1" }

// JSON reports whether output is to be JSON.
func (env *Env) JSON() bool { return env.flags.JSON }

// DryRun reports whether nothing is to be changed.
func (env *Env) DryRun() bool { return env.flags.DryRun }

// TrustsGroup reports whether what other members of the group write may be acted on.
func (env *Env) TrustsGroup() bool { return env.flags.TrustGroup }

// Now returns the time: --now, or the clock's.
func (env *Env) Now() time.Time {
	if !env.flags.Now.IsZero() {
		return env.flags.Now.Time
	}
	return protocol.Moment(time.Now())
}

// Observer returns an observer. Each call of it looks at the clocks anew. With --now there is no monotonic clock, so that
// ages are taken from the given time, and the observer counts as awake (spec §4.6). Processes are looked at all the same,
// each only once in an observation, so that nothing that judges one several times finds that it has ended in between;
// and so is what is left of the processes of one start. The observer is for any number of goroutines, each observation for one.
func (env *Env) Observer() func() protocol.Observation {
	process.Here() // what it reads once, before there is a lock
	return func() protocol.Observation {
		// A command may stay for days, and the time of the boot moves with the clock.
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
	var survived map[string]bool // nil, as for operations, until it is asked
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

// ActorID returns the name under which this command does what no participant does: $DPL_PARTICIPANT, if it is called by
// one, else the name of the program.
func (env *Env) ActorID() (string, error) {
	id, err := ID("").Or("DPL_PARTICIPANT")
	if err == nil && id == "" {
		id = env.Program
	}
	return id, err
}

// Identify returns the process of pid, given by a flag. It is the zero Process for pid 0.
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

// ledgerDir returns where the ledger is, or why this process can use none.
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

// Inspect looks at the ledger, also at one that Open refuses.
func (env *Env) Inspect() (*fileops.Survey, error) {
	dir, err := env.ledgerDir()
	if err != nil {
		return nil, err
	}
	return fileops.Inspect(dir, env.options())
}

// Create opens the ledger, made with c if there is none. With --dry-run it makes none, but returns one that is absent.
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

// CheckRoots returns fileops.ErrRoot if one of roots is not fit for a resource root.
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

// warnLeftovers says what could not be deleted.
func (env *Env) warnLeftovers() {
	for _, l := range env.ledgers {
		if err := errors.Join(l.Leftovers()...); err != nil {
			env.Warnf("%v", err)
		}
	}
}
