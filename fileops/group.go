package fileops

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// groups are the groups of a ledger, each in two files. The registry is committed first, so no one
// sees an orchestrator newer than its registry.
var groups = Document[group.Group]{
	names: (*Ledger).groupDocument,
	none: func(id string, _ int64) group.Group {
		g := group.Create(id)
		g.Registry.Schema, g.Orchestrator.Schema = wire.Schema("supervisors"), wire.Schema("orchestrator")
		return g
	},
	times:   func(v group.Group) observe.Times { return v.Times },
	prepare: prepareGroup,
	adds:    []string{"register", "registerAll"},
	room:    "remove services, or use another group",
	record: &recording[group.Group]{
		log:    func(l *Ledger, id string) string { return l.GroupAudit(id) },
		chain:  func(of *group.Group) *audit.Chain { return &of.Registry.Audit },
		verb:   func(of group.Group) string { return of.Effects().Verb },
		patch:  func(before, after group.Group) []audit.Change { return after.AuditPatch(before) },
		text:   group.Group.AuditText,
		find:   findGroup,
		urgent: func(before, after group.Group) bool { return before.Stops() || after.Stops() },
	},
	files: []codec[group.Group]{{
		decode: func(text string, to *group.Group) (_ string, err error) {
			to.Registry, err = group.DecodeRegistry(text)
			return "", err
		},
		encode:   func(from group.Group) io.WriterTo { return from.Registry },
		revision: func(of *group.Group) int64 { return of.Registry.Revision },
		take:     func(to *group.Group, from group.Group) { to.Registry = from.Registry },
	}, {
		member: "orchestrationGroupId",
		decode: func(text string, to *group.Group) (_ string, err error) {
			to.Orchestrator, err = group.DecodeOrchestrator(text)
			return to.Orchestrator.GroupID, err
		},
		encode:   func(from group.Group) io.WriterTo { return from.Orchestrator },
		revision: func(of *group.Group) int64 { return of.Orchestrator.Revision },
		take: func(to *group.Group,
			from group.Group) {
			to.Orchestrator = from.Orchestrator
		},
	}},
}

// findGroup looks whether the registry of a group with a record was set back. Then its next
// revision is after the last one of the record.
func findGroup(tx *GroupTx, log *record.Log, restored bool) (Verb[group.Group],
	func(group.Group) group.Group, error) {
	if !restored || tx.ledger.store.Consecutive() {
		return nil, nil, nil
	}
	last := tx.value.Registry.Revision
	err := log.Later(tx.value.Registry.Audit, func(l audit.Line) { last = max(last, l.Revision) })
	if err != nil {
		return nil, nil, err
	}
	numbers := func(g group.Group) group.Group {
		g.Registry.Revision = last
		return g
	}
	restore := func(g group.Group, _ observe.Observation) (group.Group, error) {
		return numbers(g).Touch()
	}
	return restore, numbers, nil
}

func (l *Ledger) groupDocument(id string) document {
	return document{
		id: id, dir: l.Dir(), lock: l.GroupLock(id), missing: ErrNoGroup,
		paths: []string{l.SupervisorsPath(id), l.OrchestratorPath(id)},
	}
}

// A GroupTx is an edit of a group in progress.
type GroupTx = Tx[group.Group]

// prepareGroup copies a cleared registry to the archive.
func prepareGroup(tx *GroupTx, after group.Group) (group.Group, bool, error) {
	if after.Effects().Cleared {
		if err := tx.files[0].CopyTo(tx.ledger.RegistryCopies(tx.id)); err != nil {
			return after, false, err
		}
	}
	return after, after.Effects().BeatOnly, nil
}

// EditGroup applies verb to the group id. See Document.Edit. If there is no group, verb gets the
// result of group.Create.
func (l *Ledger) EditGroup(id string, mode Mode,
	verb Verb[group.Group]) (Edit[group.Group], error) {
	return groups.Edit(l, id, mode, verb)
}

// HoldGroup calls change while it holds the lock of the group id. See Document.Hold.
func (l *Ledger) HoldGroup(id string, mode Mode, change func(tx *GroupTx) error) error {
	return groups.Hold(l, id, mode, change)
}

// ReadGroup returns a group. See Document.Read. The registry may be one edit ahead of the
// orchestrator.
func (l *Ledger) ReadGroup(id string) (group.Group, error) {
	g, _, err := groups.Read(l, id)
	return g, err
}

// WitnessGroup returns a group as an observer sees it, with its exit records, and what the observer
// has seen (spec §19.6). It takes no lock, and waits for no record. If a process and its record are
// gone, it reads the group again: a pass may have taken the record in between. A nil observer is
// that of the Options.
func (l *Ledger) WitnessGroup(id string, observer func() observe.Observation) (
	group.Group, observe.Observation, error,
) {
	look := func(service, startID string) (group.ExitRecord, bool) {
		x, found, _ := l.ReadExit(id, service, startID) // one that cannot be read says nothing
		return x, found
	}
	if observer == nil {
		observer = l.options.Observe
	}
	for before := int64(-1); ; {
		g, err := l.ReadGroup(id)
		if err != nil {
			return g, observe.Observation{}, err
		}
		seen := l.ObserveGroup(g, observer())
		seenWith, missing := g.WithEnds(look, seen)
		if !missing || g.Registry.Revision == before {
			return seenWith, seen, nil
		}
		before = g.Registry.Revision
	}
}

// LookAtChild returns what a pass over another group sees of the group id, which is a service of
// that: nothing if there is none.
func (l *Ledger) LookAtChild(id string) group.ChildGroup {
	var child group.ChildGroup
	_, err := l.EditGroup(id, DryRun,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			child = g.AsChild(seen)
			return g, nil
		})
	if err != nil && !errors.Is(err, ErrNoGroup) {
		return group.ChildGroup{Unreadable: err.Error()}
	}
	return child
}

// ObserveGroup returns seen with what this host remembers about g. See Document.Observe.
func (l *Ledger) ObserveGroup(g group.Group, seen observe.Observation) observe.Observation {
	seen, _ = groups.Observe(l, g.ID, g, seen)
	return seen
}

// Groups returns the ids of all groups, sorted.
func (l *Ledger) Groups() ([]string, error) {
	defer l.fs.Refresh()
	names, err := l.fs.ReadDir(l.Dir())
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}

	groups := make(map[string]bool)
	for _, name := range names {
		switch kind, id := layout.InLedger(name); kind {
		case layout.SupervisorsFile, layout.OrchestratorFile:
			groups[id] = true
		}
	}

	return slices.Sorted(maps.Keys(groups)), nil
}
