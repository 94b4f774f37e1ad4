package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/fileops/survey"
)

// trial returns the look that tries a promise of the file system in a scratch directory.
func (p *checkup) trial(try func(*survey.Scratch) error) func() []finding {
	return func() []finding {
		return p.judged(p.inScratch(try), "put the ledger on another file system")
	}
}

// judged returns the findings of a trial that ended with err.
func (p *checkup) judged(err error, cure string) []finding {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, survey.ErrUnsound):
		return []finding{problem.about("", p.plain(err), cure)}
	case errors.Is(err, errNoScratch) && errors.Is(err, fs.ErrPermission):
		return []finding{note.about("", "not tried: no permission to write to the ledger", "")}
	case errors.Is(err, fs.ErrPermission) && p.barred():
		return []finding{note.about("", "not tried: no permission (see permissions)", "")}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT),
		errors.Is(err, syscall.EROFS):
		return []finding{note.about("", "not tried: no space to write to (see space)", "")}
	}

	return []finding{problem.about("", "it could not be tried: "+p.plain(err), cure)}
}

// errNoScratch means that there is no scratch directory to try anything in.
var errNoScratch = errors.New("make a scratch directory")

// inScratch calls try with a new scratch directory, and removes it.
func (p *checkup) inScratch(try func(*survey.Scratch) error) error {
	s, err := p.survey.Scratch()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoScratch, err)
	}

	return cmp.Or(try(s), s.Remove())
}

// plain returns the message of err on one line, with paths relative to the ledger.
func (p *checkup) plain(err error) string {
	return strings.NewReplacer(p.dir()+"/", "", "\n", "; ").Replace(err.Error())
}
