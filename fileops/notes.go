package fileops

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

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
