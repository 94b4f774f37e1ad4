package fileops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A passing is one command's pass over the group g: it commits a pending alert, appends it, and
// commits that it is no longer pending. The registry has the names of all passes in an unknown
// member; alert n belongs to the nth name.
type passing struct {
	name    string                                        // "": it has no alert, but delivers what is pending
	appends func(tx *GroupTx, alerts []group.Alert) error // nil: AppendAlerts
	early   bool                                          // a bug: append before the commit
	fresh   bool                                          // archive the registry first
	beat    bool                                          // only a heartbeat, which a power cut may undo

	seen   *group.Group // the last result of tx.Value
	acked  group.Group  // the last value for which Commit returned nil
	copied string       // the last registry for which archiving returned nil
	tried  group.Group  // the value of the last Commit
	err    error        // and its error
	wrong  error        // an error that contradicts the group
}

func (p *passing) run(l *Ledger) error {
	return l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
		seen := tx.Value()
		p.seen = &seen
		if p.beat {
			g := tx.Value()
			g.Registry.Revision++
			return p.commit(tx, g, true)
		}

		if err := p.deliver(tx); err != nil {
			return err
		}

		if p.fresh {
			if err := archiveRegistry(tx); err != nil {
				return err
			}
			p.copied = tx.Value().Registry.Encode()
		}

		if p.name == "" {
			return nil
		}

		after := withPass(tx.Value(), p.name)
		if p.early {
			if err := p.append(tx, after.Registry.PendingAlerts); err != nil {
				return err
			}
		}

		if err := p.commit(tx, after, false); err != nil {
			return err
		}

		return p.deliver(tx)
	})
}

// deliver is also how a pass begins, with what an earlier one has left.
func (p *passing) deliver(tx *GroupTx) error {
	g := tx.Value()
	if len(g.Registry.PendingAlerts) == 0 {
		return nil
	}
	if err := p.append(tx, g.Registry.PendingAlerts); err != nil {
		return err
	}

	g.Registry.Revision++
	g.Registry.PendingAlerts = nil
	return p.commit(tx, g, false)
}

func (p *passing) append(tx *GroupTx, alerts []group.Alert) error {
	if p.appends != nil {
		return p.appends(tx, alerts)
	}
	return AppendAlerts(tx, alerts)
}

func (p *passing) commit(tx *GroupTx, g group.Group, beat bool) error {
	err := tx.write(g, beat)
	p.tried, p.err = g, err
	if unchanged := sameRevisions(*p.seen, tx.Value()); unchanged != (err != nil &&
		!errors.Is(err, ErrCommitted)) {
		p.wrong = fmt.Errorf("%+v after %+v and %w", tx.Value(), p.seen, err)
	}

	*p.seen = tx.Value()
	if err == nil && !beat {
		p.acked = g
	}
	return err
}

// mayBe reports whether each file of g is as before the last Commit, or as that Commit would make
// it.
func (p *passing) mayBe(g group.Group) bool {
	return (g.Registry.Revision == p.seen.Registry.Revision ||
		g.Registry.Revision == p.tried.Registry.Revision) &&
		(g.Orchestrator.Revision == p.seen.Orchestrator.Revision ||
			g.Orchestrator.Revision == p.tried.Orchestrator.Revision)
}

func sameRevisions(a, b group.Group) bool {
	return a.Registry.Revision == b.Registry.Revision &&
		a.Orchestrator.Revision == b.Orchestrator.Revision
}

// withPass returns the group after one more pass.
func withPass(g group.Group, name string) group.Group {
	g.Orchestrator.Revision++
	g.Registry.Revision++
	g.Registry.AlertSeq++
	g.Registry.Unknown = []wire.Member{{Name: "names",
		Value: fmt.Sprintf("%q", strings.Join(append(namesOf(g), name), " "))}}
	alert := group.Alert{Seq: g.Registry.AlertSeq, Type: group.AlertFailed, Message: name,
		Timestamp: time.Unix(0, 0)}
	g.Registry.PendingAlerts = append(slices.Clone(g.Registry.PendingAlerts), alert)
	return g
}

func namesOf(g group.Group) []string {
	if len(g.Registry.Unknown) == 0 {
		return nil
	}
	return strings.Fields(strings.Trim(g.Registry.Unknown[0].Value, `"`))
}

// wantAlerts looks for alerts that are lost, duplicated, out of order, or of another group.
func wantAlerts(l *Ledger, g group.Group) error {
	var want []string
	for i, name := range namesOf(g) {
		alert := group.Alert{Seq: int64(i + 1), Type: group.AlertFailed, Message: name,
			Timestamp: time.Unix(0, 0)}
		want = append(want, alertLine("g", alert).Text)
	}

	lines, err := l.Alerts("g", 0)
	var got []string
	for _, line := range lines {
		got = append(got, line.Text)
	}

	if err != nil || !slices.Equal(got, want) || len(g.Registry.PendingAlerts) > 0 {
		return fmt.Errorf("alerts: %v, %q, want %q; pending: %v", err, got, want,
			g.Registry.PendingAlerts)
	}
	return nil
}
