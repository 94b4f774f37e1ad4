package fileops

import (
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
)

// journal is a note in tmp/ by which Sweep finds trash anywhere. Its name has the operation whose
// lock is held until the trash has been made; until then the note may be incomplete. It is not
// synced, so a power cut may leave a piece of trash that is never found.
type journal struct {
	root string
	path string // of the trash, below root
}

// writeJournal writes a note and returns its path.
func (l *Ledger) writeJournal(id string, j journal) (string, error) {
	data, err := j.encode()
	if err != nil {
		return "", err
	}
	if err := l.fs.EnsureDir(l.TmpRoot()); err != nil {
		return "", err
	}

	path := filepath.Join(l.TmpRoot(), layout.NewJournal(id))
	return path, l.fs.WriteNew(path, data, false)
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
