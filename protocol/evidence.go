package protocol

import "time"

// An Observation is everything that a verb learns about the world (spec §4.2).
type Observation struct {
	Now         time.Time
	Host        Host
	MonotonicMs int64 // CLOCK_MONOTONIC of Host; 0: unknown
	// Look returns what the observer sees of p, a process of this host, boot and pid namespace.
	// Nil: it sees nothing of any process.
	Look func(p Process) Presence
	// Survived reports whether processes of the start of s are left, although its own process is
	// gone: those known by its StartID or its Keeper (spec §11.6). Nil: none are. It is called only
	// for an s with a StartID.
	Survived func(s *Service) bool
	// Watch says how an observer that looks repeatedly has looked so far (spec §4.6).
	Watch Watch
	// Sightings is what this host remembers about the file, on a ledger that several hosts share
	// (spec §18). Nil on other ledgers.
	Sightings *Sightings
}

// A Presence is what an observer sees of a recorded process.
type Presence int

const (
	Unseen  Presence = iota // it cannot tell: it may not look, or cannot tell it from another process with that pid
	Present                 // it exists
	Stopped                 // it exists, stopped by a signal, as by Ctrl-Z; it counts as alive
	Gone                    // it has exited
)

// beat returns the beat that belongs to a heartbeat at seen.Now.
func (seen Observation) beat() Beat {
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

// age returns how long ago the time at was. It is usually the time of a heartbeat, and beat belongs
// to it.
func (seen Observation) age(at time.Time, beat Beat) time.Duration {
	if seen.Monotonic(at, beat) {
		return milliseconds(seen.MonotonicMs - beat.MonotonicMs)
	}
	return seen.since(at, beat)
}

// since returns the age if the monotonic clock cannot tell it.
func (seen Observation) since(at time.Time, beat Beat) time.Duration {
	if seen.Sightings != nil && seen.Remembers() {
		return seen.Sightings.age(remembered(at, beat), seen)
	}
	return span(at, seen.Now)
}

// sights reports whether the age of the time at is taken from a sighting.
func (seen Observation) sights(at time.Time, beat Beat) bool {
	return seen.Sightings != nil && seen.Remembers() && !seen.Monotonic(at, beat)
}

// gone returns Exited or Rebooted if p, recorded with pid, is certainly no longer running, and ""
// otherwise.
func (seen Observation) gone(pid int, p Process, heartbeat time.Time) Evidence {
	if p = identity(pid, p); p.HostID == "" || p.HostID != seen.Host.ID || seen.Host.BootID == "" {
		return ""
	}
	if p.BootID != seen.Host.BootID && (heartbeat.IsZero() ||
		heartbeat.Before(seen.Host.BootedAt)) {
		return Rebooted
	}
	if seen.presence(p) == Gone {
		return Exited
	}
	return ""
}

// presence returns what the observer sees of p, which may be on another host.
func (seen Observation) presence(p Process) Presence {
	if !seen.canCheck(p) || seen.Look == nil {
		return Unseen
	}
	return seen.Look(p)
}

// canCheck reports whether p belongs to this host, boot and pid namespace.
func (seen Observation) canCheck(p Process) bool {
	here := seen.Host
	return p.HostID != "" && p.HostID == here.ID && p.BootID != "" && p.BootID == here.BootID &&
		p.PIDNamespace != "" && p.PIDNamespace == here.PIDNamespace
}

// Stopped reports whether the observer sees that p, recorded with pid, is stopped.
func (seen Observation) Stopped(pid int, p Process) bool {
	return seen.presence(identity(pid, p)) == Stopped
}

// stale reports whether age is longer than threshold, in the past or in the future.
func stale(age, threshold time.Duration) bool { return age > threshold || age < -threshold }

// vital is the part of a frame, supervisor or service that shows whether it is alive.
type vital struct {
	pid       int
	process   Process
	heartbeat time.Time // zero: none
	beat      Beat
	promised  bool   // it promised to send heartbeats
	grace     *Grace // nil: none
}

// judge returns the evidence that v is dead, or "" (spec §4.2), and the age of its heartbeat, or 0
// if it has none. A process that exists is not stale unless it promised to send heartbeats. Nothing
// is stale during its grace.
func (seen Observation) judge(v vital, threshold time.Duration) (Evidence, time.Duration) {
	age := time.Duration(0)
	if !v.heartbeat.IsZero() {
		age = seen.age(v.heartbeat, v.beat)
	}

	if evidence := seen.gone(v.pid, v.process, v.heartbeat); evidence != "" {
		return evidence, age
	}
	if seen.countsHeartbeats(v) && stale(age, threshold) && !seen.graced(v, threshold) {
		return Stale, age
	}
	return "", age
}

// countsHeartbeats reports whether v is judged by its heartbeats, and not by its process.
func (seen Observation) countsHeartbeats(v vital) bool {
	presence := seen.presence(identity(v.pid, v.process))
	return v.promised || presence != Present && presence != Stopped
}

func (f *Frame) vital() vital {
	return vital{f.PID, f.Process, f.LastHeartbeat, f.Beat, f.Heartbeats, f.Grace}
}

func (s *Supervisor) vital() vital {
	return vital{s.PID, s.Process, s.LastHeartbeat, s.Beat, s.Heartbeats, s.Grace}
}

func (s *Service) vital() vital {
	return vital{s.PID, s.Process, s.LastHeartbeat, s.Beat, s.Heartbeats, s.Grace}
}

// Judge returns the evidence that the participant of f is dead, or "" (spec §4.2), and the age of
// its heartbeat.
func (op Operation) Judge(f *Frame, seen Observation) (Evidence, time.Duration) {
	return seen.judge(f.vital(), op.StalenessThreshold)
}

// JudgeSupervisor is Judge for a supervisor.
func (op Operation) JudgeSupervisor(s Supervisor, seen Observation) (Evidence, time.Duration) {
	return seen.judge(s.vital(), op.StalenessThreshold)
}
