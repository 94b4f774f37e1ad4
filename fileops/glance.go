package fileops

import (
	"errors"
	"io"

	"github.com/dpl-project/dpl/protocol"
)

// glanceSize is more than the members that protocol.Glance reads take.
const glanceSize = 1024

// Glance returns the revision and the state of an operation that is not archived, by the beginning of its file alone, without a
// lock: so many may ask often of a large one. It returns 0 and "" where that does not tell, as on a ledger that commits by link,
// and fs.ErrNotExist if the file is not there.
func (l *Ledger) Glance(id string) (revision int64, state protocol.State, err error) {
	if l.config.Commit != CommitRename {
		return 0, "", nil
	}
	defer l.fs.Refresh()

	f, err := l.fs.Open(l.operation(id))
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = l.trustFile(l.operation(id), info)
	}
	if err != nil {
		return 0, "", err
	}

	start := make([]byte, glanceSize)
	n, err := f.Read(start)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", err
	}
	revision, state = protocol.Glance(string(start[:n]))
	return revision, state, nil
}
