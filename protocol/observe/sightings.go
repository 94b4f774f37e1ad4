package observe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Sightings are what the observers on one host remember about a file on a shared ledger (spec §18):
// each beat, or time, whose age no clock of this host can tell, and when one of them first saw it.
// Later observers take its age from that, so the clocks of two hosts are never compared. The zero
// value remembers nothing.
type Sightings struct {
	bootID string // of the host, whose monotonic clock begins anew with each boot
	first  map[Beat]int64
}

// age returns how long ago beat was first seen.
func (s *Sightings) age(beat Beat, seen Observation) time.Duration {
	if first, ok := s.first[beat]; ok && s.bootID == seen.Host.BootID {
		return wire.Milliseconds(seen.MonotonicMs - first)
	}
	return 0
}

// Equal reports whether s and other remember the same.
func (s Sightings) Equal(other Sightings) bool {
	return maps.Equal(s.first, other.first) && (s.bootID == other.bootID || len(s.first) == 0)
}

// Times calls sight with each time in a file whose age matters, and its beat.
type Times func(sight func(at time.Time, beat Beat))

// Sight returns what to remember from now on about a file with these times, given that s is what
// was remembered.
func (s Sightings) Sight(seen Observation, times Times) Sightings {
	after := Sightings{bootID: seen.Host.BootID, first: make(map[Beat]int64)}
	times(func(at time.Time, beat Beat) { after.sight(at, beat, seen) })
	if s.bootID != after.bootID {
		return after
	}

	for beat := range after.first {
		if first, ok := s.first[beat]; ok && first <= after.first[beat] {
			after.first[beat] = first
		}
	}
	return after
}

// sight records that the time at, with its beat, is seen now, unless a clock of this host can tell
// its age.
func (s Sightings) sight(at time.Time, beat Beat, seen Observation) {
	if !at.IsZero() && !seen.Monotonic(at, beat) {
		s.first[remembered(at, beat)] = seen.MonotonicMs
	}
}

// remembered returns beat if it belongs to the time at, and otherwise a Beat that has only that
// time.
func remembered(at time.Time, beat Beat) Beat {
	at = wire.Moment(at)
	beat = beat.Counting(at)
	beat.At = at
	return beat
}

// Encode returns the content of the file (spec §18).
func (s Sightings) Encode() string {
	return wire.Text(wire.Record(s.record))
}

func (s Sightings) sorted() (all []sighting) {
	for beat, first := range s.first {
		all = append(all, sighting{beat, first})
	}
	slices.SortFunc(all, func(a, b sighting) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.BootID, b.BootID),
			cmp.Compare(a.MonotonicMs, b.MonotonicMs))
	})
	return all
}

// DecodeSightings returns the sightings in text. Its errors are those of wire.Decode.
func DecodeSightings(text string) (Sightings, error) {
	return wire.DecodeRecord(text, (*Sightings).record)
}

func (s *Sightings) record(c *wire.Codec) {
	var seen []sighting
	if c.Reads() {
		s.first = make(map[Beat]int64)
	} else {
		seen = s.sorted()
	}

	version := wire.Version
	if c.Known(func(c *wire.Codec) {
		c.Version(&version)
		c.String("bootId", &s.bootID, wire.Always)
		wire.Objects(c, "seen", &seen, (*sighting).record, wire.Always)
	}) {
		for _, one := range seen {
			s.first[one.Beat] = one.first
		}
	}
}

// A sighting is one in the file.
type sighting struct {
	Beat
	first int64
}

func (s *sighting) record(c *wire.Codec) { c.Known(s.members) }

func (s *sighting) members(c *wire.Codec) {
	s.Beat.members(c)
	c.Int64("firstSeenMs", &s.first, 0, wire.Always)
}
