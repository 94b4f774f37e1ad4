package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/fileops"
)

// promises are the checks of what the file system does, in a scratch directory.
func (p *checkup) promises() []check {
	trial := func(name, well string, try func(*fileops.Scratch) error) check {
		return check{name, well, func() []finding { return p.judged(p.inScratch(try), "put the ledger on another file system") }}
	}
	return []check{
		trial("create", "O_EXCL makes no file in the place of another", (*fileops.Scratch).Exclusive),
		trial("link", "link(2) takes no name that is taken", (*fileops.Scratch).Link),
		trial("move", "a renaming that is to replace nothing does not", (*fileops.Scratch).Move),
		trial("rename", "a reader finds all of the old file or all of the new", (*fileops.Scratch).Replace),
		trial("fsync", "directories can be made durable", (*fileops.Scratch).Sync),
	}
}

// judged returns what there is to say of a trial that has ended with err.
func (p *checkup) judged(err error, cure string) []finding {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileops.ErrUnsound):
		return []finding{{level: problem, text: p.plain(err), cure: cure}}
	case errors.Is(err, errNoScratch) && errors.Is(err, fs.ErrPermission):
		return []finding{{level: note, text: "not tried, for want of permission to write to the ledger"}}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS):
		return []finding{{level: note, text: "not tried, for want of space to write to: see space"}}
	}
	return []finding{{level: problem, text: "it could not be tried: " + p.plain(err), cure: cure}}
}

// errNoScratch means that there is nothing to try anything in.
var errNoScratch = errors.New("make a scratch directory")

// inScratch makes a scratch directory for try.
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

// plain returns the message of err with names as they are within the ledger, in one line.
func (p *checkup) plain(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), p.dir()+"/", ""), "\n", "; ")
}
