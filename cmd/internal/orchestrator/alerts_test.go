package orchestrator

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// quiet is an environment that trusts everybody.
type quiet struct{ Env }

func (quiet) DryRun() bool                          { return false }
func (quiet) CheckGroupTrust(*fileops.Ledger) error { return nil }
func (quiet) Warnf(string, ...any)                  {}

// A command gives alerts for a minute, also those of the groups below. The next one goes on.
func TestGiveAlertsForAMinute(t *testing.T) {
	t.Parallel()
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{},
		fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"g", "h"} {
		raiseAlerts(t, l, id, 3)
	}

	told := filepath.Join(t.TempDir(), "told")
	o := New(quiet{}, l, "g")
	o.OnAlert, o.HookOut = "echo >>"+told, io.Discard
	o.children = map[string]*Orchestrator{"h": o.beside("h")}
	for _, want := range []int{2, 4, 6, 6} {
		now := time.Now()
		o.clock = func() time.Time {
			now = now.Add(25 * time.Second) // at the beginning, and before each hook
			return now
		}
		if err := o.GiveAlerts(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(told); len(got) != want {
			t.Fatalf("%d alerts are given, want %d", len(got), want)
		}
	}
}

// raiseAlerts makes a group whose hook has not been given n alerts.
func raiseAlerts(t *testing.T, l *fileops.Ledger, id string, n int64) {
	t.Helper()
	err := l.HoldGroup(id, fileops.OrCreate, func(tx *fileops.GroupTx) error {
		g, err := tx.Value().Given(1, false, observe.Observation{Now: time.Now()})
		if err != nil {
			return err
		}
		for seq := range n {
			a := group.Alert{Seq: seq + 2, Type: group.AlertDead, Timestamp: time.Now()}
			g.Registry.PendingAlerts = append(g.Registry.PendingAlerts, a)
		}
		if err := tx.Commit(g); err != nil {
			return err
		}
		return fileops.AppendAlerts(tx, g.Registry.PendingAlerts)
	})
	if err != nil {
		t.Fatal(err)
	}
}
