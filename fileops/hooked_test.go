package fileops

import (
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

type hooked = hookfs.FS

var (
	nth     = hookfs.Nth
	broken  = hookfs.Broken
	errDisk = hookfs.ErrDisk
)

// hookedLedger creates a ledger on which nothing happens before a call until Before is set.
func hookedLedger(t *testing.T, c Config, o Options) (*Ledger, *hooked) {
	t.Helper()
	h := &hooked{FS: disk.OS{}}
	o.FS = h
	return testLedger(t, c, o), h
}
