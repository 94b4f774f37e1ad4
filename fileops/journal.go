package fileops

import (
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/wire"
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
	err = readObject(data, func(r *wire.Reader, name string) {
		switch name {
		case "root":
			j.root = r.String()
		case "path":
			j.path = r.String()
		default:
			r.Value()
		}
	})
	return j, err
}
