package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ErrEmptyLog means that a log has no lines to be sealed.
var ErrEmptyLog = errors.New("its log has no lines")

// seal renames the log of an object to the next sealed part of it, when all pending lines are
// durable there, and commits an edit, made by touch, whose line begins the next part: with the
// whole object. A seal that is killed before that commit leaves a log that the next edit creates.
func seal[T any](tx *Tx[T], touch func(T) (T, error)) (path string, err error) {
	r := tx.kind.record
	if !r.always && !r.chain(&tx.value).On() {
		return "", ErrNoRecord
	}
	after, err := touch(tx.value)
	if err != nil {
		return "", err
	}

	log, chain, restored := tx.follow()
	defer log.close()
	if !restored {
		if chain, err = log.sync(chain); err != nil {
			return "", err
		}
	}
	if path, err = log.seal(); err != nil {
		return "", err
	}

	if !restored { // else the edit finds that out again
		*r.chain(&tx.value) = chain
	}
	tx.entry = audit.Entry{Verb: audit.Sealed}
	return path, tx.Commit(after)
}

// seal renames the log to the next part, and returns that. An empty one was sealed before, by a
// process that was killed then.
func (g *auditLog) seal() (path string, err error) {
	parts, err := g.ledger.sealedParts(g.path)
	if err != nil {
		return "", err
	}

	last := 0
	if len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	if g.file == nil || g.end == 0 {
		if last == 0 {
			return "", fmt.Errorf("%s: %w", g.path, ErrEmptyLog)
		}
		return layout.PartOf(g.path, last), nil
	}

	path = layout.PartOf(g.path, last+1)
	if err := g.ledger.fs.Move(g.path, path); err != nil {
		return "", err
	}
	return path, g.ledger.fs.SyncDir(filepath.Dir(path))
}

// AddNote stores text in notes/, and returns a note about it. One that is there already may be what
// a killed process has left, so it is compared and synced.
func (l *Ledger) AddNote(kind, task, text string) (audit.Note, error) {
	defer l.fs.Refresh()
	note := audit.Note{Kind: kind, Task: task, Size: int64(len(text)), Hash: wire.Hash(text)}
	path := l.NotePath(strings.TrimPrefix(note.Hash, "sha256:"))
	if err := l.fs.EnsureDir(l.NotesDir()); err != nil {
		return note, err
	}
	data := []byte(text)
	err := l.fs.WriteNew(path, data, true)
	if errors.Is(err, fs.ErrExist) {
		if known, readErr := l.ReadNote(note); readErr == nil && known == text {
			err = l.fs.WithFile(path, l.fs.SyncFile)
		} else if err = l.fs.RemoveIfThere(path); err == nil {
			err = l.fs.WriteNew(path, data, true)
		}
	}
	if err == nil {
		err = errors.Join(l.fs.SyncDir(l.NotesDir()), l.fs.SyncDir(l.Dir()))
	}
	return note, err
}

// ReadNote returns the text of a note.
func (l *Ledger) ReadNote(note audit.Note) (string, error) {
	data, _, err := l.fs.ReadFile(l.NotePath(strings.TrimPrefix(note.Hash, "sha256:")))
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err == nil && wire.Hash(string(data)) != note.Hash {
		err = errors.New("it is not what was noted")
	}
	return string(data), err
}
