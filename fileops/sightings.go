package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
)

// A memory is what this host remembers about one file (spec §18), and one observation of it. Its
// file belongs to the host alone, and is changed under the lock of the other file. It is not
// synced: if it is lost, the host starts over.
type memory struct {
	ledger *Ledger
	path   string // of the file that this is about
	kept   protocol.Sightings
	now    protocol.Sightings
	seen   protocol.Observation
}

func (l *Ledger) remember(path string) *memory { return &memory{ledger: l, path: path} }

// observe returns seen with the memory updated by sight. If only one host's clocks matter, it
// remembers nothing.
func (m *memory) observe(seen protocol.Observation,
	sight func(protocol.Sightings) protocol.Sightings) protocol.Observation {
	if !m.ledger.linked() || !seen.Remembers() {
		return seen
	}
	if data, _, err := m.ledger.readFile(layout.SightingsOf(m.path, seen.Host.ID)); err == nil {
		m.kept, _ = protocol.DecodeSightings(asString(data)) // invalid content is forgotten
	}

	m.seen = seen
	m.now = sight(m.kept)
	seen.Sightings = &m.now
	return seen
}

// keep stores now, unless it is the same as what is stored.
func (m *memory) keep(now protocol.Sightings) error {
	if now.Equal(m.kept) {
		return nil
	}

	l, path := m.ledger, layout.SightingsOf(m.path, m.seen.Host.ID)
	temp := layout.TempOf(path)
	if err := l.writeNew(temp, []byte(now.Encode()), SyncNone); err != nil {
		return err
	}
	if err := l.fs.Replace(temp, path); err != nil {
		return errors.Join(err, l.removeIfThere(temp))
	}
	return nil
}
