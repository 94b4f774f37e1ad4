package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Observation is everything that a verb learns about the world (spec §4.2).
type Observation struct {
	Now         time.Time
	Host        Host
	MonotonicMs int64 // CLOCK_MONOTONIC of Host; 0: unknown
	// Look returns what the observer sees of p, a process of this host, boot and pid namespace.
	// Nil: it sees nothing of any process.
	Look func(p Process) Presence
	// IsStopped reports whether p, a process that Look sees, is stopped by a signal, as by Ctrl-Z.
	// Nil: the observer cannot tell.
	IsStopped func(p Process) bool
	// LookAhead looks at all of processes at once, which Look will be asked about. Nil: Look does
	// it.
	LookAhead func(processes []Process)
	// Survived reports whether processes of a start are left, although leader, the process of the
	// service, is gone: those known by startID or keeper (spec §11.6). Nil: none are. It is called
	// only with a startID.
	Survived func(leader Process, startID string, keeper Process) bool
	// Kept returns a living process of another start of a service of a group than startID, which
	// its keeper keeps: the registry of the group was restored. 0: there is none. Nil: it cannot
	// tell.
	Kept func(group, service, startID string) int
	// Used returns what the processes of a start have used, and whether it could look at leader,
	// their first, which is alive. Nil: it cannot. startID is "" if no pass has started leader.
	Used func(leader Process, startID string, keeper Process) (Usage, bool)
	// Watch says how an observer that looks repeatedly has looked so far (spec §4.6).
	Watch Watch
	// Sightings is what this host remembers about the file, on a ledger that several hosts share
	// (spec §18). Nil on other ledgers.
	Sightings *Sightings
}

// A Usage is what processes have used.
type Usage struct {
	CPU    time.Duration // of all of them, in whole milliseconds
	MaxRSS int64         // the most memory that any one of them had resident, in KiB
}

// Later returns what seen would be at t, if everything stayed as it is.
func (seen Observation) Later(t time.Time) Observation {
	if seen.MonotonicMs != 0 {
		seen.MonotonicMs += t.Sub(seen.Now).Milliseconds()
	}
	seen.Now = t
	return seen
}

// A Presence is what an observer sees of a recorded process.
type Presence int

const (
	Unseen  Presence = iota // it may not look, or cannot tell it from another with that pid
	Present                 // it exists, stopped or not
	Gone                    // it has exited
)

// Beat returns the beat that belongs to a heartbeat at seen.Now.
func (seen Observation) Beat() Beat {
	if seen.MonotonicMs == 0 || seen.Host.BootID == "" {
		return Beat{}
	}
	return Beat{BootID: seen.Host.BootID, MonotonicMs: seen.MonotonicMs, At: seen.Now}
}

// Monotonic reports whether the age of a heartbeat is taken from the monotonic clock, because beat
// was made in this boot, and not from the wall clock.
func (seen Observation) Monotonic(heartbeat time.Time, beat Beat) bool {
	return beat.BootID != "" && beat.BootID == seen.Host.BootID && beat.At.Equal(heartbeat) &&
		seen.MonotonicMs != 0 && seen.MonotonicMs >= beat.MonotonicMs
}

// Remembers reports whether the observer can take ages from what its host remembers: it knows its
// host, its boot and their monotonic clock.
func (seen Observation) Remembers() bool {
	return seen.MonotonicMs != 0 && seen.Host.ID != "" && seen.Host.BootID != ""
}

// Age returns how long ago the time at was. It is usually the time of a heartbeat, and beat belongs
// to it.
func (seen Observation) Age(at time.Time, beat Beat) time.Duration {
	switch {
	case seen.Monotonic(at, beat):
		return wire.Milliseconds(seen.MonotonicMs - beat.MonotonicMs)
	case seen.sights(at, beat):
		return seen.Sightings.age(remembered(at, beat), seen)
	}
	return wire.Span(at, seen.Now)
}

// sights reports whether the age of the time at is taken from a sighting.
func (seen Observation) sights(at time.Time, beat Beat) bool {
	return seen.Sightings != nil && seen.Remembers() && !seen.Monotonic(at, beat)
}
