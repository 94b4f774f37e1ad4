package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/trust"
)

// A renaming renames what was written over the file.
type renaming struct{ files }

// Rename returns a Store that commits by rename. It is safe as long as no process loses a lock
// without noticing. The files are those of fs. leftover gets the errors of tidying up, which do not
// end an edit, and nil.
func Rename(fs *trust.FS, leftover func(error)) Store { return renaming{files{fs, leftover}} }

func (renaming) Leased() bool      { return false }
func (renaming) Consecutive() bool { return false }

func (s renaming) Edit(f File) Replacement {
	return Replacement{File: f, store: s, files: s.files}
}

func (s renaming) Read(f File) (State, error) {
	data, info, err := s.fs.ReadFile(f.Path)
	return State{Exists: err == nil, Data: data, Version: none, info: info}, err
}

func (s renaming) Present(f File) error {
	_, err := s.fs.Lstat(f.Path)
	return err
}

func (s renaming) base(f File, _ string) (State, error) {
	base, err := s.Read(f)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	return base, err
}

func (s renaming) commit(r *Replacement, next Contents) (made Outcome, err error) {
	made = Made
	if err = s.fs.Replace(r.temp, r.Path); err != nil {
		renamed, lookErr := s.renamed(r, next)
		made, err = outcomeAfterError(renamed, err, lookErr)
	}

	if made == Made {
		r.temp, r.Base = "", State{Exists: true, Version: none}
	}
	return made, err
}

// renamed reports whether the temporary file has become the file.
func (s renaming) renamed(r *Replacement, next io.WriterTo) (bool, error) {
	if there, err := s.fs.LookFor(r.temp); there || err != nil {
		return false, err
	}
	var want bytes.Buffer
	next.WriteTo(&want)
	data, _, err := s.fs.ReadFile(r.Path)
	return err == nil && bytes.Equal(data, want.Bytes()), trust.IgnoreMissing(err)
}

// outcomeAfterError returns the outcome of a call that failed with err. made says whether a look
// found it done anyway, because over a network the answer can be lost; lookErr is the error of that
// look.
func outcomeAfterError(made bool, err, lookErr error) (Outcome, error) {
	switch {
	case lookErr != nil:
		return MayBeMade, fmt.Errorf("%w; then %w", err, lookErr)
	case made:
		return Made, err
	}
	return NotMade, err
}

func (s renaming) archive(f File, _ State) (Outcome, error) {
	err := moveTo(s.fs, f.Copies, 1, f.Path)
	if err == nil {
		return Made, nil
	}

	there, lookErr := s.fs.LookFor(f.Path)
	return outcomeAfterError(!there, err, lookErr)
}

func (renaming) prune(File, string) error { return nil }
