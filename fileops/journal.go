package fileops

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
)

// journal is the note in tmp/ by which Sweep finds trash anywhere. Its name says which operation's lock is held until
// the trash has been made: as long as it is, the note may be incomplete. It is not fsynced: a power cut may leave a piece
// of trash that nobody finds.
type journal struct {
	root string
	path string // of the trash, below root
}

// writeJournal returns the path of the note.
func (l *Ledger) writeJournal(id string, j journal) (string, error) {
	data, err := j.encode()
	if err != nil {
		return "", err
	}
	if err := l.ensureDir(l.tmp()); err != nil {
		return "", err
	}
	path := filepath.Join(l.tmp(), newJournalName(id))
	return path, l.writeNew(path, data, SyncNone)
}

func (j journal) encode() ([]byte, error) {
	return encode([]jsontext.Token{
		jsontext.BeginObject,
		jsontext.String("root"), jsontext.String(j.root),
		jsontext.String("path"), jsontext.String(j.path),
		jsontext.EndObject,
	})
}

func decodeJournal(data []byte) (j journal, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	err = readObject(d, func(name string) error {
		switch name {
		case "root":
			return readString(d, &j.root)
		case "path":
			return readString(d, &j.path)
		}
		return d.SkipValue()
	})
	return j, err
}

// sweepJournal deletes the trash that a note tells of, and the note, unless the edit that wrote it may be about to make
// the trash. A note that ends in the middle was the last thing its writer did: there is no trash.
func (l *Ledger) sweepJournal(name, id string) error {
	if over, err := l.editEnded(id); err != nil || !over {
		return err
	}
	path := filepath.Join(l.tmp(), name)
	data, info, err := l.readFile(path)
	if err != nil {
		return ignoreMissing(err)
	}
	j, err := decodeJournal(data)
	if err != nil {
		return l.removeIfThere(path)
	}
	if err := l.checkJournal(j); err != nil {
		return fmt.Errorf("%s: %w: remove it if it is of no use", path, err)
	}
	if l.config.Shared && !l.options.TrustGroup && info.UID != l.euid && j.root != l.tmp() {
		return nil
	}
	if err := l.purgeAt(j.root, j.path); err != nil {
		return err
	}
	return l.removeIfThere(path)
}

// checkJournal makes sure that a note speaks of trash, and of trash where Discard may leave it.
func (l *Ledger) checkJournal(j journal) error {
	path := filepath.Join(j.root, j.path)
	root, name, err := l.locate(path)
	if err == nil && (root != j.root || name != j.path || !isTrash(filepath.Base(path))) {
		err = fmt.Errorf("%q: %w: not a name for trash", path, ErrResource)
	}
	return err
}
