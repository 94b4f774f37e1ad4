package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/fileops"
)

// promises are the checks of the file system's promises, in a scratch directory.
func (p *checkup) promises() []check {
	trial := func(name, well string, try func(*fileops.Scratch) error) check {
		return check{name, well,
			func() []finding {
				return p.judged(p.inScratch(try),
					"put the ledger on another file system")
			}}
	}
	return []check{
		trial("create", "O_EXCL never replaces a file", (*fileops.Scratch).Exclusive),
		trial("link", "link(2) never replaces a file", (*fileops.Scratch).Link),
		trial("move", "a rename that must not replace a file does not", (*fileops.Scratch).Move),
		trial("rename", "a reader sees all of the old file or all of the new one",
			(*fileops.Scratch).Replace),
		trial("fsync", "directories can be synced", (*fileops.Scratch).Sync),
	}
}

// judged returns the findings of a trial that ended with err.
func (p *checkup) judged(err error, cure string) []finding {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileops.ErrUnsound):
		return []finding{{level: problem, text: p.plain(err), cure: cure}}
	case errors.Is(err, errNoScratch) && errors.Is(err, fs.ErrPermission):
		return []finding{{level: note, text: "not tried: no permission to write to the ledger"}}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err,
		syscall.EROFS):
		return []finding{{level: note, text: "not tried: no space to write to (see space)"}}
	}

	return []finding{{level: problem, text: "it could not be tried: " + p.plain(err), cure: cure}}
}

// errNoScratch means that there is no scratch directory to try anything in.
var errNoScratch = errors.New("make a scratch directory")

// inScratch calls try with a new scratch directory, and removes it.
func (p *checkup) inScratch(try func(*fileops.Scratch) error) error {
	s, err := p.survey.Scratch()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoScratch, err)
	}

	err = try(s)
	if left := s.Remove(); err == nil {
		err = left
	}
	return err
}

// plain returns the message of err on one line, with paths relative to the ledger.
func (p *checkup) plain(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), p.dir()+"/", ""), "\n", "; ")
}
