package fileops

import (
	"errors"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/resource"
)

// EmptyTmp deletes what is in the temporary directory of a call, of a run of the operation op.
func (l *Ledger) EmptyTmp(op, run, call string) error {
	name := filepath.Join(op, layout.TmpName(run, call))
	dir, err := resource.Open(l.fs, l.TmpRoot(), name)
	if err != nil {
		return err
	}
	defer dir.Close()

	names, err := dir.ReadDir()
	for _, inside := range names {
		err = errors.Join(err, resource.Purge(dir, inside))
	}
	return err
}
