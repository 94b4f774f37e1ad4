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
func (m *memory) observe(seen protocol.Observation, sight func(protocol.Sightings) protocol.Sightings) protocol.Observation {
	if !m.ledger.linked() || !seen.Remembers() {
		return seen
	}
	if data, _, err := m.ledger.readFile(sightingsOf(m.path, seen.Host.ID)); err == nil {
		m.kept, _ = protocol.DecodeSightings(asString(data)) // what makes no sense is forgotten
	}
	m.seen = seen
	m.now = sight(m.kept)
	seen.Sightings = &m.now
	return seen
}

// keep writes what is to be remembered now, if that is something else.
func (m *memory) keep(now protocol.Sightings) error {
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
