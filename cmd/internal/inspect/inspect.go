// Package inspect looks at the files of an attempt for package check, and runs the command of a
// check.
//
// Whoever made the files may want the check to pass. So no path leads out of the directory, not
// even by a symbolic link ([os.Root]); only regular files are read, and never more than package
// check allows; nothing waits for a FIFO; and what cannot be looked at is a doubt, not a success.
package inspect

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/check"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Options say what to look at besides the files.
type Options struct {
	Now time.Time // when the looking begins
	// Limit is the time for all that is looked at and compared, but for the command: what is not
	// known by then is a doubt.
	Limit  time.Duration
	Exit   *int64    // the exit status of the attempt; nil if it is not known
	Output io.Writer // gets what the command prints
	DryRun bool      // the command is not run
}

// An Attempt is a check.Attempt.
type Attempt struct {
	Options
	rules    check.Rules
	dir      string
	root     *os.Root
	schemas  map[string]*jsonschema.Schema
	over     <-chan struct{} // closed at the Limit
	exceeded error           // which limit came first; nil: none so far
}

// Open returns the attempt whose files are in dir. The caller must close it. It returns a
// *wire.Error if a schema of rules is not valid. The limits count from here: if one comes before that
// is known, whatever is looked at later is a doubt.
func Open(dir string, rules check.Rules, o Options) (*Attempt, error) {
	a := &Attempt{Options: o, rules: rules, dir: dir, over: after(o.Limit)}
	var err error
	a.schemas, err = within(a, func() (map[string]*jsonschema.Schema, error) { return compile(rules.JSON) })
	if err != nil && a.exceeded == nil {
		return nil, err
	}
	if a.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	return a, nil
}

// Close releases what Open has opened.
func (a *Attempt) Close() error { return a.root.Close() }

// Exit is that of check.Attempt.
func (a *Attempt) Exit() (int64, bool) {
	if a.Options.Exit == nil {
		return 0, false
	}
	return *a.Options.Exit, true
}

func (a *Attempt) look(path string) (check.Stamp, error) {
	info, err := a.regular(path)
	if err != nil {
		return check.Stamp{}, err
	}
	return stampOf(info, a.Now), nil
}

// regular describes the regular file at path.
func (a *Attempt) regular(path string) (fs.FileInfo, error) {
	info, err := a.root.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := a.root.Lstat(path); err == nil {
			return nil, check.Fact("it is a symbolic link to nothing")
		}
	}
	if err != nil {
		return nil, factOf(err)
	}
	return info, isRegular(info.Mode())
}

// isRegular returns a check.Fact unless mode is that of a regular file.
func isRegular(mode fs.FileMode) error {
	kind := "no regular file"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return check.Fact("it is " + kind)
}

// factOf returns err, of a method of os.Root, as a check.Fact if it is one. The others are doubts,
// without the path, which the report has.
func factOf(err error) error {
	var cause error
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}

	switch {
	case cause == nil:
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ENAMETOOLONG):
		return check.Fact("it does not exist")
	case errors.Is(err, syscall.ELOOP):
		return check.Fact("its symbolic links lead in a circle")
	case cause.Error() == "path escapes from parent": // package os does not export it
		return check.Fact("a symbolic link leads out of the directory")
	}
	return cause
}

func (a *Attempt) read(path string) (string, error) {
	if _, err := a.regular(path); err != nil { // opening a device could do something
		return "", err
	}
	return a.content(path)
}

// content returns what is in the file at path, which may have been replaced by anything.
func (a *Attempt) content(path string) (string, error) {
	f, err := a.root.OpenFile(path, os.O_RDONLY|atOnce, 0)
	if err != nil {
		return "", factOf(err)
	}
	defer f.Close()

	info, err := f.Stat()
	if err == nil {
		err = isRegular(info.Mode())
	}
	if err != nil {
		return "", err
	}

	data, err := io.ReadAll(io.LimitReader(f, check.MaxText+1))
	if err != nil {
		return "", factOf(err)
	}
	if len(data) > check.MaxText {
		return "", errors.New("it is larger than 512 KiB")
	}
	return string(data), nil
}
