package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/dpl-project/dpl/protocol/queue"
)

// ErrPublish means that a file of an attempt cannot be published. The queue is unchanged.
var ErrPublish = errors.New("cannot be published")

// SyncPublications makes what is in files of an attempt durable, so that little of it is left to be
// synced under the lock. It passes over those that cannot be published: the edit says why.
func (l *Ledger) SyncPublications(all []queue.Publication) error {
	for _, p := range all {
		info, err := l.fs.Lstat(p.From)
		if err != nil || !info.Mode.IsRegular() {
			continue
		}
		// The kernel tells of a write that has failed only once.
		if err := l.fs.WithFile(p.From, l.fs.SyncFile); err != nil {
			return fmt.Errorf("publish %q as %q: %w", p.From, p.To, err)
		}
	}
	return nil
}

// publish gives files of an attempt their names, under the lock and before the commit that says that
// the task is done (spec §35.6). Each keeps its first name until Published, so if the commit fails,
// all of it can be repeated. again says that an earlier edit may have done so.
func (l *Ledger) publish(all []queue.Publication, again bool) error {
	for _, p := range all {
		if err := l.publishFile(p, again); err != nil {
			return fmt.Errorf("publish %q as %q: %w", p.From, p.To, err)
		}
	}
	return nil
}

func (l *Ledger) publishFile(p queue.Publication, again bool) error {
	if l.linked() {
		return fmt.Errorf("%w: this ledger commits by link, so its locks do not keep others out",
			ErrPublish)
	}

	from, err := l.fs.Lstat(p.From)
	to, none := l.fs.Lstat(p.To)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && again && none == nil:
		return nil
	case missing:
		return fmt.Errorf("%w: there is no such file", ErrPublish)
	case err != nil:
		return err
	case !from.Mode.IsRegular():
		return fmt.Errorf("%w: it is not a regular file", ErrPublish)
	case none == nil && to.Mode.IsDir():
		return fmt.Errorf("%w: there is a directory of that name", ErrPublish)
	}

	if err := l.fs.WithFile(p.From, l.fs.SyncFile); err != nil {
		return err
	}
	if err := l.replaceByLink(p.From, p.To); err != nil {
		return err
	}
	return l.fs.SyncDir(filepath.Dir(p.To))
}

// replaceByLink makes to another name of the file from.
func (l *Ledger) replaceByLink(from, to string) error {
	dir, name := filepath.Split(to)
	temporary := filepath.Join(dir, "."+name+".dpl~")
	err := l.fs.RemoveIfThere(temporary) // a killed edit has left it
	if err == nil {
		err = l.fs.Link(from, temporary)
	}
	switch {
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%w: they are on different file systems", ErrPublish)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no directory %q", ErrPublish, dir)
	case err != nil:
		return err
	}

	err = l.fs.Replace(temporary, to)
	return errors.Join(err, l.fs.RemoveIfThere(temporary)) // it stays if both were the same file
}

// Published removes the first names of files that an edit has published.
func (l *Ledger) Published(all []queue.Publication) error {
	for _, p := range all {
		from, err := l.fs.Lstat(p.From)
		to, toErr := l.fs.Lstat(p.To)
		if err == nil && toErr == nil && from.ID == to.ID {
			if err := l.fs.RemoveIfThere(p.From); err != nil {
				return err
			}
		}
	}
	return nil
}
