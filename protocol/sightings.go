package protocol

import (
	"cmp"
	"maps"
	"slices"
	"time"
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
		return milliseconds(seen.MonotonicMs - first)
	}
	return 0
}

// Equal reports whether s and other remember the same.
func (s Sightings) Equal(other Sightings) bool {
	return maps.Equal(s.first, other.first) && (s.bootID == other.bootID || len(s.first) == 0)
}

// SightOperation returns what to remember about op from now on, given that s is what was
// remembered.
func (s Sightings) SightOperation(op Operation, seen Observation) Sightings {
	after := s.begin(seen)
	if len(op.Stack) == 0 { // only then its age matters
		after.sight(op.LastHeartbeat, Beat{}, seen)
	}

	for _, f := range op.Stack {
		after.sight(f.LastHeartbeat, f.Beat, seen)
		after.sightGrace(f.Grace, seen)
		if f.Crash != nil {
			after.sight(f.Crash.ReportedAt, f.Crash.ReportedBeat, seen)
			if h := f.Crash.HandlingBy; h != nil {
				after.sight(h.At, Beat{}, seen)
			}
		}
	}

	for i := range op.Supervisors {
		after.sight(op.Supervisors[i].LastHeartbeat, op.Supervisors[i].Beat, seen)
		after.sightGrace(op.Supervisors[i].Grace, seen)
	}

	return after.since(s)
}

// SightGroup returns what to remember about g from now on, given that s is what was remembered.
func (s Sightings) SightGroup(g Group, seen Observation) Sightings {
	after := s.begin(seen)
	after.sight(g.Orchestrator.Heartbeat, g.Orchestrator.Beat, seen)
	for i := range g.Registry.Services {
		r := &g.Registry.Services[i]
		after.sight(r.LastHeartbeat, r.Beat, seen)
		after.sightGrace(r.Grace, seen)
		after.sight(r.TermSentAt, r.TermSentBeat, seen)
	}

	return after.since(s)
}

func (s Sightings) begin(seen Observation) Sightings {
	return Sightings{bootID: seen.Host.BootID, first: make(map[Beat]int64)}
}

// sight records that the time at, with its beat, is seen now, unless a clock of this host can tell
// its age.
func (s Sightings) sight(at time.Time, beat Beat, seen Observation) {
	if !at.IsZero() && !seen.Monotonic(at, beat) {
		s.first[remembered(at, beat)] = seen.MonotonicMs
	}
}

func (s Sightings) sightGrace(g *Grace, seen Observation) {
	if g != nil {
		s.sight(g.At, g.Beat, seen)
	}
}

// since returns s with the times of before for everything that was seen earlier.
func (s Sightings) since(before Sightings) Sightings {
	if before.bootID == s.bootID {
		for beat := range s.first {
			if first, ok := before.first[beat]; ok && first <= s.first[beat] {
				s.first[beat] = first
			}
		}
	}
	return s
}

// remembered returns beat if it belongs to the time at, and otherwise a Beat that has only that
// time.
func remembered(at time.Time, beat Beat) Beat {
	if at = Moment(at); !beat.At.Equal(at) {
		beat = Beat{}
	}
	beat.At = at
	return beat
}

// Encode returns the content of the file (spec §18).
func (s Sightings) Encode() string {
	w := &encoder{source: &source{}}
	w.open('{')
	w.int("protocolVersion", Version)
	w.string("bootId", s.bootID)
	w.name("seen")
	beats := s.sorted()
	w.array(len(beats), func(i int) {
		w.open('{')
		w.string("bootId", beats[i].BootID)
		w.int("monotonicMs", beats[i].MonotonicMs)
		w.time("at", beats[i].At)
		w.int("firstSeenMs", s.first[beats[i]])
		w.close('}')
	})

	w.close('}')

	return string(append(w.buf, '\n'))
}

func (s Sightings) sorted() []Beat {
	var beats []Beat
	for beat := range s.first {
		beats = append(beats, beat)
	}
	slices.SortFunc(beats, func(a, b Beat) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.BootID, b.BootID),
			cmp.Compare(a.MonotonicMs, b.MonotonicMs))
	})
	return beats
}

// DecodeSightings returns the sightings in text. Its errors are those of Decode.
func DecodeSightings(text string) (Sightings, error) {
	return decodeWhole(text, 0, (*decoder).sightings)
}

func (d *decoder) sightings() Sightings {
	s := Sightings{first: make(map[Beat]int64)}
	d.Object(func(name string) {
		switch name {
		case "protocolVersion":
			d.version()
		case "bootId":
			s.bootID = d.String()
		case "seen":
			d.Array(func() {
				var beat Beat
				first := d.sighting(&beat)
				s.first[beat] = first
			})
		default:
			d.Value()
		}
	})

	return s
}

func (d *decoder) sighting(beat *Beat) (first int64) {
	d.Object(func(name string) {
		switch name {
		case "bootId":
			beat.BootID = d.String()
		case "monotonicMs":
			beat.MonotonicMs = d.Int(0)
		case "at":
			beat.At = d.time()
		case "firstSeenMs":
			first = d.Int(0)
		default:
			d.Value()
		}
	})

	return first
}
