package protocol

import "time"

// An Observation is all that a verb learns of the world (spec §4.2).
type Observation struct {
	Now         time.Time
	Host        Host
	MonotonicMs int64 // CLOCK_MONOTONIC of Host; 0: unknown
	// Exited reports whether p, a process of Host, its boot and its pid namespace, is certainly gone. Nil: never.
	Exited func(p Process) bool
	// Survived reports whether processes are left of the start of s, whose own process is gone: those that have its
	// StartID in their environment (spec §11.6). Nil: never. It is asked only of an s that has one.
	Survived func(s *Registered) bool
	// Sightings is what this host remembers of the file, on a ledger where other hosts' clocks matter (spec §18). Nil: elsewhere.
	Sightings *Sightings
}

// beat returns the beat that belongs to a heartbeat at seen.Now.
func (seen Observation) beat() Beat {
	if seen.MonotonicMs == 0 || seen.Host.BootID == "" {
		return Beat{}
	}
	return Beat{BootID: seen.Host.BootID, MonotonicMs: seen.MonotonicMs, At: seen.Now}
}

// Monotonic reports whether the age of a heartbeat is taken from the monotonic clock, because beat is of this boot, and not
// from the wall clock.
func (seen Observation) Monotonic(heartbeat time.Time, beat Beat) bool {
	return beat.BootID != "" && beat.BootID == seen.Host.BootID && beat.At.Equal(heartbeat) &&
		seen.MonotonicMs != 0 && seen.MonotonicMs >= beat.MonotonicMs
}

// Remembers reports whether the observer can tell ages by what its host remembers: it knows its host, its boot and their clock.
func (seen Observation) Remembers() bool {
	return seen.MonotonicMs != 0 && seen.Host.ID != "" && seen.Host.BootID != ""
}

// age returns how long ago the time at was, a heartbeat mostly, to which beat belongs.
func (seen Observation) age(at time.Time, beat Beat) time.Duration {
	if seen.Monotonic(at, beat) {
		return time.Duration(seen.MonotonicMs-beat.MonotonicMs) * time.Millisecond
	}
	return seen.since(at, beat)
}

// since is age where the monotonic clock does not tell it.
func (seen Observation) since(at time.Time, beat Beat) time.Duration {
	if seen.Sightings != nil && seen.Remembers() {
		return seen.Sightings.age(remembered(at, beat), seen)
	}
	return seen.Now.Sub(at)
}

// gone returns Exited or Rebooted if p, known under pid, is certainly no longer running, else "".
func (seen Observation) gone(pid int, p Process, heartbeat time.Time) Evidence {
	if p = identity(pid, p); p.HostID == "" || p.HostID != seen.Host.ID || seen.Host.BootID == "" {
		return ""
	}
	if p.BootID != seen.Host.BootID && (heartbeat.IsZero() || heartbeat.Before(seen.Host.BootedAt)) {
		return Rebooted
	}
	if seen.canCheck(p) && seen.Exited != nil && seen.Exited(p) {
		return Exited
	}
	return ""
}

// canCheck reports whether p is a process of this host, boot and pid namespace.
func (seen Observation) canCheck(p Process) bool {
	here := seen.Host
	return p.HostID != "" && p.HostID == here.ID && p.BootID != "" && p.BootID == here.BootID &&
		p.PIDNamespace != "" && p.PIDNamespace == here.PIDNamespace
}

// stale reports whether age is above threshold, or as far in the future.
func stale(age, threshold time.Duration) bool { return age > threshold || age < -threshold }

// Judge returns the evidence that the participant of f is dead as seen, or "" (spec §4.2), and the age of its heartbeat.
func (op Operation) Judge(f *Frame, seen Observation) (Evidence, time.Duration) {
	return op.judge(f.PID, f.Process, f.LastHeartbeat, f.Beat, seen)
}

// JudgeSupervisor is Judge for a supervisor.
func (op Operation) JudgeSupervisor(s Supervisor, seen Observation) (Evidence, time.Duration) {
	return op.judge(s.PID, s.Process, s.LastHeartbeat, s.Beat, seen)
}

func (op Operation) judge(pid int, p Process, heartbeat time.Time, beat Beat, seen Observation) (Evidence, time.Duration) {
	age := seen.age(heartbeat, beat)
	if evidence := seen.gone(pid, p, heartbeat); evidence != "" {
		return evidence, age
	}
	if stale(age, op.StalenessThreshold) {
		return Stale, age
	}
	return "", age
}
