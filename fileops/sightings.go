package fileops

import (
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A memory is what this host remembers about one file (spec §18), and one observation of it. Its
// file belongs to the host alone, and is changed under the lock of the other file. It is not
// synced: if it is lost, the host starts over.
type memory struct {
	ledger *Ledger
	path   string // of the file that this is about
	kept   observe.Sightings
	now    observe.Sightings
	seen   observe.Observation
}

func (l *Ledger) remember(path string) *memory { return &memory{ledger: l, path: path} }

// observe returns seen with the memory updated by a file with these times. If only one host's
// clocks matter, it remembers nothing.
func (m *memory) observe(seen observe.Observation, times observe.Times) observe.Observation {
	if !m.ledger.store.Leased() || !seen.Remembers() {
		return seen
	}
	if data, _, err := m.ledger.fs.ReadFile(layout.SightingsOf(m.path, seen.Host.ID)); err == nil {
		m.kept, _ = observe.DecodeSightings(trust.AsString(data)) // invalid content is forgotten
	}

	m.seen = seen
	m.now = m.kept.Sight(seen, times)
	seen.Sightings = &m.now
	return seen
}

// keep stores now, unless it is the same as what is stored.
func (m *memory) keep(now observe.Sightings) error {
	if now.Equal(m.kept) {
		return nil
	}

	return m.ledger.fs.WriteOver(layout.SightingsOf(m.path, m.seen.Host.ID),
		func(file disk.File) error {
			_, err := file.Write([]byte(now.Encode()))
			return err
		})
}
