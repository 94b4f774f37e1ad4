// Package record keeps the logs of records (spec §51 to §57): an edit appends a line to the log of
// its object, and a log that becomes long is sealed as a part of the record. The end of the chain
// is in the file of the object.
package record

import (
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Record is the log of an object, and the sealed parts before it. None of them need exist.
type Record struct {
	Path   string // of the log
	fs     *trust.FS
	leased bool
}

// At returns the record whose log is at path. If a lock is only a lease, others may append to the
// log at the same time.
func At(path string, fs *trust.FS, leased bool) Record { return Record{path, fs, leased} }

// Parts returns the numbers of the sealed parts, in order.
func (r Record) Parts() (parts []int, err error) {
	names, err := r.fs.Entries(filepath.Dir(r.Path))
	for _, name := range names {
		if n, ok := layout.AuditPart(filepath.Base(r.Path), name); ok {
			parts = append(parts, n)
		}
	}
	slices.Sort(parts)
	return parts, err
}
