package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/protocol"
)

// A memory is what this host remembers of one file (spec §18), and one observation of it. The file that it is kept in is the
// host's own, and changed under the lock of the other. It is not fsynced: whoever has lost it begins anew.
type memory struct {
	ledger *Ledger
	path   string // of the file that is remembered
	kept   protocol.Sightings
	now    protocol.Sightings
	seen   protocol.Observation
}

func (l *Ledger) remember(path string) *memory { return &memory{ledger: l, path: path} }

// observe returns seen with what is remembered after sight. Where only one host's clocks matter nothing is.
func (m *memory) observe(seen protocol.Observation, sight func(protocol.Sightings, protocol.Observation) protocol.Sightings) protocol.Observation {
	if !m.ledger.linked() || !seen.Remembers() {
		return seen
	}
	if data, _, err := m.ledger.readFile(sightingsOf(m.path, seen.Host.ID)); err == nil {
		m.kept, _ = protocol.DecodeSightings(asString(data)) // what makes no sense is forgotten
	}
	m.seen = seen
	m.now = sight(m.kept, seen)
	seen.Sightings = &m.now
	return seen
}

// keep writes what is remembered after sight, if that is something else.
func (m *memory) keep(sight func(protocol.Sightings) protocol.Sightings) error {
	if m.seen.MonotonicMs == 0 {
		return nil
	}
	now := sight(m.now)
	if now.Equal(m.kept) {
		return nil
	}
	l, path := m.ledger, sightingsOf(m.path, m.seen.Host.ID)
	temp := tempOf(path)
	if err := l.writeNew(temp, []byte(now.Encode()), SyncNone); err != nil {
		return err
	}
	if err := l.fs.Replace(temp, path); err != nil {
		return errors.Join(err, l.removeIfThere(temp))
	}
	return nil
}

// ObserveOperation returns seen with what this host remembers of op, for whoever only reads. With news, there is more to be
// remembered, which an edit would keep.
func (l *Ledger) ObserveOperation(op protocol.Operation, seen protocol.Observation) (_ protocol.Observation, news bool) {
	m := l.remember(l.operation(op.ID))
	seen = m.observe(seen, func(s protocol.Sightings, seen protocol.Observation) protocol.Sightings {
		return s.SightOperation(op, seen)
	})
	return seen, seen.Sightings != nil && !m.now.Equal(m.kept)
}

// ObserveGroup is ObserveOperation for a group.
func (l *Ledger) ObserveGroup(g protocol.Group, seen protocol.Observation) protocol.Observation {
	return l.remember(l.supervisors(g.ID)).observe(seen, sightGroup(g))
}

func sightGroup(g protocol.Group) func(protocol.Sightings, protocol.Observation) protocol.Sightings {
	return func(s protocol.Sightings, seen protocol.Observation) protocol.Sightings { return s.SightGroup(g, seen) }
}

// Observe returns what Options.Observe sees, with what this host remembers of the group as it was read. That is kept when the
// edit ends.
func (tx *GroupTx) Observe() protocol.Observation {
	if tx.memory == nil {
		tx.memory = tx.ledger.remember(tx.ledger.supervisors(tx.id))
	}
	return tx.memory.observe(tx.ledger.options.Observe(), sightGroup(tx.group))
}

// keepMemory ends an edit.
func (tx *GroupTx) keepMemory() {
	if m := tx.memory; m != nil && !tx.absent {
		tx.ledger.recordLeftover(m.keep(func(s protocol.Sightings) protocol.Sightings { return s.SightGroup(tx.group, m.seen) }))
	}
}
