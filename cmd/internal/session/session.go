// Package session is the work of one command on a ledger: it opens the ledger, observes, and edits.
// It knows no flags, prints nothing, and leaves exit statuses to package cli.
package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/survey"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ErrNoDir means that neither a flag nor the environment says where the ledger is.
var ErrNoDir = errors.New("no ledger: set --ledger, $DPL_LEDGER or $HOME")

// Options say how a command works on its ledger.
type Options struct {
	Program     string        // the name of the command when it acts for no participant
	Ledger      string        // its directory; "": below $XDG_STATE_HOME or $HOME
	LockTimeout time.Duration // how long an edit waits for the lock
	Sync        disk.Sync
	TrustOwner  string    // a user, besides this one and root, to whom a shared ledger may belong
	TrustGroup  bool      // act on what other members of the group wrote to a shared ledger
	DryRun      bool      // change nothing
	Reads       bool      // never edit, so that root may read the ledger of another user
	Now         time.Time // zero: the time of the clock
}

// A Session is the work of one command. Its methods may be called by any number of goroutines,
// except those that open a ledger or edit.
type Session struct {
	options   Options
	committed bool
	ledgers   []*fileops.Ledger // to ask for leftovers
	known     sync.Once
	by        audit.By // who makes its edits, once it is known
}

// New returns a session that has done nothing yet.
func New(o Options) *Session { return &Session{options: o} }

// DryRun reports whether nothing may be changed.
func (s *Session) DryRun() bool { return s.options.DryRun }

// TrustsGroup reports whether to act on what other members of the group wrote to a shared ledger.
func (s *Session) TrustsGroup() bool { return s.options.TrustGroup }

// CheckGroupTrust returns fileops.ErrPermission for a shared ledger, to which other members of the
// group can write what would then be run, unless the group is trusted.
func (s *Session) CheckGroupTrust(l *fileops.Ledger) error {
	if !l.Config().Shared || s.TrustsGroup() {
		return nil
	}
	return fmt.Errorf("%w: %s is shared: it would run commands that others write: give "+
		"--trust-group",
		fileops.ErrPermission, l.Dir())
}

// ActorID returns the id under which this command does things that no participant does:
// $DPL_PARTICIPANT, or else the name of the program. It returns wire.ErrBadID if the variable
// has no valid id.
func (s *Session) ActorID() (string, error) {
	id := os.Getenv("DPL_PARTICIPANT")
	if id == "" {
		return s.options.Program, nil
	}
	if err := wire.CheckID(id); err != nil {
		return "", fmt.Errorf("$DPL_PARTICIPANT: %w", err)
	}
	return id, nil
}

// Dir returns the directory of the ledger, or the reason why this process cannot use one. It
// returns ErrNoDir if nothing says where it is. If that is a symbolic link, it returns what the
// link leads to: below that, the ledger follows none.
func (s *Session) Dir() (string, error) {
	if err := checkOpenFiles(); err != nil {
		return "", err
	}
	dir, err := s.named()
	if err != nil {
		return "", err
	}
	dir = filepath.Clean(dir) // with a slash at the end it is followed
	if info, err := os.Lstat(dir); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return dir, nil
	}
	target, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil // there is no ledger
	}
	return target, err
}

// named returns the path by which the user names the ledger.
func (s *Session) named() (string, error) {
	if s.options.Ledger != "" {
		return s.options.Ledger, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dpl"), nil
	}

	home, err := os.UserHomeDir()
	if err != nil {
		return "", ErrNoDir
	}

	return filepath.Join(home, ".local", "state", "dpl"), nil
}

func (s *Session) ledgerOptions() fileops.Options {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = ""
	}
	return fileops.Options{
		LockTimeout: s.options.LockTimeout, Sync: s.options.Sync, TrustGroup: s.options.TrustGroup,
		Owner: s.options.TrustOwner,
		Home:  home, Observe: s.Observer(), By: s.author,
	}
}

// Open opens the ledger.
func (s *Session) Open() (*fileops.Ledger, error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	o := s.ledgerOptions()
	o.Reads = s.options.Reads
	l, err := fileops.Open(dir, o)
	return s.opened(l, err)
}

// Create opens the ledger, and creates it with c if there is none. In a dry run it returns an
// absent one instead.
func (s *Session) Create(c fileops.Config) (*fileops.Ledger, error) {
	if s.DryRun() {
		l, err := s.Open()
		if !errors.Is(err, fileops.ErrNoLedger) {
			return l, err
		}
	}

	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	if s.DryRun() {
		return fileops.Absent(dir, s.ledgerOptions())
	}

	l, err := fileops.Create(dir, c, s.ledgerOptions())
	return s.opened(l, err)
}

func (s *Session) opened(l *fileops.Ledger, err error) (*fileops.Ledger, error) {
	if err != nil {
		return nil, err
	}
	s.ledgers = append(s.ledgers, l)
	return l, nil
}

// Inspect surveys the ledger, even if Open refuses it.
func (s *Session) Inspect() (*survey.Survey, error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	found, err := survey.Inspect(dir, s.ledgerOptions())
	if err == nil {
		s.ledgers = append(s.ledgers, found.Ledger)
	}
	return found, err
}

// CheckRoots returns fileops.ErrRoot if one of roots cannot be a resource root.
func (s *Session) CheckRoots(roots ...string) error {
	dir, err := s.Dir()
	if err == nil && len(roots) > 0 {
		err = fileops.CheckRoots(dir, roots, s.ledgerOptions())
	}
	return err
}

// Leftovers returns an error for each file that could not be deleted in the ledgers of this
// session.
func (s *Session) Leftovers() (all []error) {
	for _, l := range s.ledgers {
		if err := errors.Join(l.Leftovers()...); err != nil {
			all = append(all, err)
		}
	}
	return all
}
