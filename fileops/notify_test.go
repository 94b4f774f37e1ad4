package fileops

import (
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// polled is the operating system, but one that a Notifier does not know as such.
type polled struct{ disk.OS }

func (p polled) Within(base string, admit func(string, disk.Info) error) disk.FS {
	p.OS = p.OS.Within(base, admit).(disk.OS)
	return p
}

// eachWay runs test with a Notifier of the operation op and the group g: one that the operating
// system tells of changes, if it does, and one that polls.
func eachWay(t *testing.T, test func(t *testing.T, l *Ledger, n *notify.Notifier)) {
	for name, o := range map[string]Options{"told": {Sync: disk.SyncNone},
		"polled": {Sync: disk.SyncNone, FS: polled{}}} {
		o.LockTimeout = 30 * time.Second
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, o)
			n := l.Notify([]string{"op"}, []string{"g"})
			t.Cleanup(func() { must(t, n.Close()) })
			test(t, l, n)
		})
	}
}

// await is the loop that a Notifier is for.
func await(t *testing.T, n *notify.Notifier, done func() bool) {
	t.Helper()
	for n.Arm(); !done(); n.Arm() {
		select {
		case <-n.C():
		case <-time.After(poll.Patience):
			t.Fatal("nothing was told")
		}
	}
}

// revise makes an edit. The first one creates the operation.
func revise(t *testing.T, l *Ledger, id string) {
	t.Helper()
	_, err := l.EditOperation(id, OrCreate,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			if op.ID == "" {
				op = protocol.Create(id, "", time.Second, 10*time.Second)
				op.LastHeartbeat = time.Unix(0, 0)
			}
			op.Revision++
			return op, nil
		})

	must(t, err)
}

func reviseGroup(t *testing.T, l *Ledger, id string) {
	t.Helper()
	must(t, l.HoldGroup(id, OrCreate, func(tx *GroupTx) error {
		g := tx.Value()
		g.Registry.Revision++
		return tx.Commit(g)
	}))
}

// Writers race with Arm and with each other; the reader sees the last revision.
func TestNotifyMissesNothing(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l *Ledger, n *notify.Notifier) {
		const writers, each = 4, 100
		var all sync.WaitGroup

		for range writers {
			all.Go(func() {
				for range each {
					revise(t, l, "op")
					reviseGroup(t, l, "g")
				}
			})
		}

		await(t, n, func() bool {
			op, _, _ := l.ReadOperation("op")
			g, _ := l.ReadGroup("g")
			return op.Revision == writers*each && g.Registry.Revision == writers*each
		})

		all.Wait()
	})
}

// The archiving of an operation is a change.
func TestNotifyTellsOfArchiving(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l *Ledger, n *notify.Notifier) {
		revise(t, l, "op")
		var done sync.WaitGroup
		done.Go(func() {
			_, err := l.EditOperation("op", Existing,
				func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
					return op, protocol.ErrExpired
				})
			if err != nil {
				t.Error(err)
			}
		})

		await(t, n, func() bool { return gone(t, l.OperationPath("op")) })
		done.Wait()
		if _, archived, err := l.ReadOperation("op"); !archived || err != nil {
			t.Errorf("archived: %v, %v", archived, err)
		}
	})
}
