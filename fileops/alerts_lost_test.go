package fileops_test

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
)

// The first command is killed before its fsync of the alerts. The fsync of the second fails, so it
// removes its own line. The line of the first can still be read, but no later fsync writes it to
// the disk: the third must write it again.
func TestAlertsAfterAFailedFsync(t *testing.T) {
	t.Parallel()
	disk := simfs.New()
	p := &simfs.Process{Disk: disk}
	if err := p.Mkdir("/l", 0o700); err != nil {
		t.Fatal(err)
	}

	l, err := fileops.Create("/l", fileops.Config{}, fileops.Options{FS: p})
	if err != nil {
		t.Fatal(err)
	}
	if survived, err := appendOn(disk, syncFault{killed: true}, 1); survived {
		t.Fatalf("it was to be killed: %v", err)
	}
	if _, err := appendOn(disk, syncFault{err: syscall.EIO}, 1, 2); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want that of the fsync", err)
	}
	if _, err := appendOn(disk, syncFault{}, 1, 2); err != nil {
		t.Fatal(err)
	}

	disk.PowerLoss(rand.New(rand.NewPCG(1, 2)))
	lines, err := l.Alerts("g", 0)
	if err != nil || len(lines) != 2 || lines[0].Seq != 1 || lines[1].Seq != 2 {
		t.Errorf("got %v, %v, want both alerts", lines, err)
	}
}

// A syncFault is what befalls a process at its fsync of the alerts file.
type syncFault struct {
	killed bool
	err    error
}

// appendOn lets a new process append alerts with these numbers.
func appendOn(disk *simfs.Disk, fault syncFault, seqs ...int64) (survived bool, err error) {
	p := &simfs.Process{Disk: disk}
	last := ""
	p.Trace = func(call string) {
		if last == "write" && call == "fsync" && fault != (syncFault{}) {
			p.Fault = simfs.Fault{At: p.Calls, Err: fault.err}
		}
		last = call
	}

	survived = p.Run(func() {
		var l *fileops.Ledger
		if l, err = fileops.Open("/l", fileops.Options{FS: p}); err != nil {
			return
		}

		err = l.HoldGroup("g", fileops.OrCreate, func(tx *fileops.GroupTx) error {
			var alerts []group.Alert
			for _, seq := range seqs {
				alerts = append(alerts, group.Alert{Seq: seq, Type: group.AlertDead,
					Timestamp: time.Unix(0, 0)})
			}
			return fileops.AppendAlerts(tx, alerts)
		})
	})

	return survived, err
}
