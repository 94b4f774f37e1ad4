package fileops

import (
	"errors"
	"io"

	"github.com/dpl-project/dpl/protocol"
)

// glanceSize is larger than the members that protocol.Glance reads.
const glanceSize = 1024

// Glance returns the revision and the state of an operation that is not archived. It reads only the
// beginning of its file, and takes no lock, so it is cheap even for a large file. If that is not
// enough to tell, as on a ledger that commits by link, it returns 0 and "". It returns
// fs.ErrNotExist if there is no such file.
func (l *Ledger) Glance(id string) (revision int64, state protocol.State, err error) {
	if l.config.Commit != CommitRename {
		return 0, "", nil
	}
	defer l.fs.Refresh()
	return l.glance(l.OperationPath(id))
}

// glance is Glance for the file of an operation at path.
func (l *Ledger) glance(path string) (revision int64, state protocol.State, err error) {
	f, _, err := l.fs.OpenFile(path, l.fs.Open)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()

	start := make([]byte, glanceSize)
	n, err := f.Read(start)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", err
	}

	revision, state = protocol.Glance(string(start[:n]))

	return revision, state, nil
}
