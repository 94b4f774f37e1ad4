package fileops

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dpl-project/dpl/fileops/disk"
)

// temp is a temporary file beside the file whose next version it is to become. There is none in the zero value.
type temp struct {
	ledger *Ledger
	target string    // what it replaces
	path   string    // "" once it has replaced that
	file   disk.File // nil once it is written
}

// createTemp returns something to remove even if it fails: the error may have come after the file.
func (l *Ledger) createTemp(target string) (temp, error) {
	t := temp{ledger: l, target: target, path: tempOf(target)}
	var err error
	t.file, err = l.createFile(t.path)
	return t, err
}

// write makes next the content of the file, and closes it.
func (t *temp) write(next io.WriterTo, sync Sync) error {
	file := t.file
	t.file = nil
	size, err := next.WriteTo(file)
	if err == nil && size > maxFile {
		err = fmt.Errorf("%s: %w: it would have %d MiB", t.target, ErrTooLarge, size>>20)
	}
	if err == nil && sync != SyncNone {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// A contents is what a file is to become, and the revision in it.
type contents struct {
	io.WriterTo
	revision int64
}

// An outcome says whether others see an edit. That it came with an error changes nothing about that.
type outcome int

const (
	notMade   outcome = iota
	mayBeMade         // nothing tells
	isMade
)

// commit makes visible what was written and follows base.
func (t *temp) commit(n contents, base state) (outcome, error) {
	if !t.ledger.linked() {
		return t.replace(n)
	}
	if (base.exists || base.over) && n.revision != base.version+1 {
		return notMade, fmt.Errorf("%s: revision %d does not follow %d", t.target, n.revision, base.version)
	}
	return t.link(n.revision, base)
}

// outcomeAfterError returns the outcome of a call that failed with err, after a look whether it was made all the same: over a network the
// answer can be lost.
func outcomeAfterError(made bool, err, lookErr error) (outcome, error) {
	switch {
	case lookErr != nil:
		return mayBeMade, fmt.Errorf("%w; then %w", err, lookErr)
	case made:
		return isMade, err
	}
	return notMade, err
}

// replace renames the file over its target.
func (t *temp) replace(next io.WriterTo) (made outcome, err error) {
	made = isMade
	if err = t.ledger.fs.Replace(t.path, t.target); err != nil {
		replaced, lookErr := t.replaced(next)
		made, err = outcomeAfterError(replaced, err, lookErr)
	}
	if made == isMade {
		t.path = ""
	}
	return made, err
}

// replaced reports whether the file has been renamed to its target.
func (t *temp) replaced(next io.WriterTo) (bool, error) {
	if there, err := t.ledger.lookFor(t.path); there || err != nil {
		return false, err
	}
	var want bytes.Buffer
	next.WriteTo(&want)
	data, _, err := t.ledger.readFile(t.target)
	return err == nil && bytes.Equal(data, want.Bytes()), ignoreMissing(err)
}

// remove removes the file unless it has replaced another.
func (t *temp) remove() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
	if t.path != "" {
		t.ledger.recordLeftover(t.ledger.removeIfThere(t.path))
		t.path = ""
	}
}

// sync is how much of an edit has to be on disk when it is over.
func (l *Ledger) sync(beat bool) Sync {
	switch s := l.options.Sync; {
	case s != SyncDefault:
		return s
	case beat:
		return SyncFile
	}
	return SyncFull
}

// directories are open before a rename, so that what can fail fails while nothing is changed.
type directories []disk.File

// openDirs opens what has to be flushed after the rename: nothing, if the edit needs no such durability.
func (l *Ledger) openDirs(sync Sync, paths ...string) (directories, error) {
	if sync != SyncFull {
		return nil, nil
	}
	var dirs directories
	for _, path := range paths {
		dir, err := l.fs.Open(path)
		if err != nil {
			return nil, errors.Join(err, dirs.close())
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// end is the end of an edit with that outcome, and perhaps err.
func (dirs directories) end(made outcome, err error) error {
	switch made {
	case isMade:
		return dirs.sync(err)
	case mayBeMade:
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return errors.Join(err, dirs.close())
}

// sync is the end of an edit that is made, even if it failed with err.
func (dirs directories) sync(err error) error {
	for _, dir := range dirs {
		if err == nil {
			err = dir.Sync()
		}
	}
	dirs.close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCommitted, err)
	}
	return nil
}

func (dirs directories) close() (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, dir.Close())
	}
	return err
}
