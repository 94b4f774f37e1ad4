package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
)

// ErrEmptyLog means that a log has no lines to be sealed.
var ErrEmptyLog = errors.New("its log has no lines")

// seal renames the log of an object to the next sealed part of it, when all pending lines are durable
// there, and commits an edit, made by touch, whose line begins the next part: with the whole object. A
// seal that is killed before that commit leaves a log that the next edit creates.
func seal[T any](tx *Tx[T], touch func(T) (T, error)) (path string, err error) {
	r, l := tx.kind.record, tx.ledger
	after, err := touch(tx.value)
	if err != nil {
		return "", err
	}

	log := l.openAuditLog(r.log(l, tx.id))
	defer log.close()
	chain, restored := log.follow(*r.chain(&tx.value))
	if !restored {
		if chain, err = log.sync(chain); err != nil {
			return "", err
		}
	}
	if log.file == nil || log.end == 0 {
		return "", fmt.Errorf("%s: %w", log.path, ErrEmptyLog)
	}

	parts, err := l.sealedParts(log.path)
	if err != nil {
		return "", err
	}
	n := 1
	if len(parts) > 0 {
		n = parts[len(parts)-1] + 1
	}
	path = layout.PartOf(log.path, n)
	if err := l.fs.Move(log.path, path); err != nil {
		return "", err
	}
	if err := l.fs.SyncDir(filepath.Dir(path)); err != nil {
		return "", err
	}

	if !restored { // else the edit finds that out again
		*r.chain(&tx.value) = chain
	}
	tx.entry = audit.Entry{Verb: audit.Sealed}
	return path, tx.Commit(after)
}

// AddNote stores text in notes/, if it is not there, and returns a note about it.
func (l *Ledger) AddNote(kind, task, text string) (audit.Note, error) {
	note := audit.Note{Kind: kind, Task: task, Size: int64(len(text)), Hash: audit.Hash(text)}
	path := l.NotePath(strings.TrimPrefix(note.Hash, "sha256:"))
	if err := l.fs.EnsureDir(l.NotesDir()); err != nil {
		return note, err
	}
	if known, err := l.ReadNote(note); err == nil && known == text {
		return note, nil
	}
	err := l.fs.WriteOver(path, func(f disk.File) error {
		if _, err := f.Write([]byte(text)); err != nil {
			return err
		}
		return l.fs.SyncFile(f)
	})
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
	if err == nil && audit.Hash(string(data)) != note.Hash {
		err = errors.New("it is not what was noted")
	}
	return string(data), err
}
