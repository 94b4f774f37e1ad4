package observe

import "time"

// An Evidence is the reason why a frame or supervisor is dead (spec §4.2).
type Evidence string

const (
	Exited         Evidence = "exited"
	Rebooted       Evidence = "rebooted"
	Stale          Evidence = "stale"
	SupervisorDead Evidence = "supervisorDead"
)

// Gone returns Exited or Rebooted if the process of v is certainly no longer running, and ""
// otherwise.
func (seen Observation) Gone(v Vitals) Evidence {
	p := v.Identity()
	if seen.otherBoot(p) && (v.LastHeartbeat.IsZero() ||
		v.LastHeartbeat.Before(seen.Host.BootedAt)) {
		return Rebooted
	}
	if seen.presence(p) == Gone {
		return Exited
	}
	return ""
}

// otherBoot reports whether p belongs to another boot of this host.
func (seen Observation) otherBoot(p Process) bool {
	here := seen.Host
	return p.HostID != "" && p.HostID == here.ID && here.BootID != "" && p.BootID != here.BootID
}

// SameBoot reports whether p belongs to this boot of this host.
func (seen Observation) SameBoot(p Process) bool {
	return p.HostID == seen.Host.ID && p.BootID == seen.Host.BootID
}

// IsStale reports whether age is longer than threshold, in the past or in the future.
func IsStale(age, threshold time.Duration) bool { return age > threshold || age < -threshold }

// Judge returns the evidence that v is dead, or "" (spec §4.2), and the age of its heartbeat, or 0
// if it has none. A process that exists is not stale unless it promised to send heartbeats. Nothing
// is stale during its grace.
func (seen Observation) Judge(v Vitals, threshold time.Duration) (Evidence, time.Duration) {
	age := time.Duration(0)
	if !v.LastHeartbeat.IsZero() {
		age = seen.Age(v.LastHeartbeat, v.Beat)
	}

	if evidence := seen.Gone(v); evidence != "" {
		return evidence, age
	}
	switch {
	case seen.otherBoot(v.Identity()) && age < -threshold:
		return Rebooted, age // the clock was behind when the machine was booted
	case seen.CountsHeartbeats(v) && IsStale(age, threshold) && !seen.graced(v, threshold):
		return Stale, age
	}
	return "", age
}

// CountsHeartbeats reports whether v is judged by its heartbeats, and not by its process.
func (seen Observation) CountsHeartbeats(v Vitals) bool {
	return v.Heartbeats || seen.presence(v.Identity()) != Present
}

// Checks reports whether the observer sees that the process of v is there.
func (seen Observation) Checks(v Vitals) bool { return seen.presence(v.Identity()) == Present }

// StaleIn returns the time until v is stale without a heartbeat.
func (seen Observation) StaleIn(v Vitals, threshold time.Duration) time.Duration {
	in := threshold - seen.Age(v.LastHeartbeat, v.Beat)
	if g := v.Grace.counting(v.LastHeartbeat); g != nil {
		in = max(in, threshold-seen.Age(g.At, g.Beat))
	}
	return in
}

// presence returns what the observer sees of p, which may be on another host.
func (seen Observation) presence(p Process) Presence {
	if !seen.CanCheck(p) || seen.Look == nil {
		return Unseen
	}
	return seen.Look(p)
}

// CanCheck reports whether p belongs to this host, boot and pid namespace.
func (seen Observation) CanCheck(p Process) bool {
	here := seen.Host
	return p.HostID != "" && p.HostID == here.ID && p.BootID != "" && p.BootID == here.BootID &&
		p.PIDNamespace != "" && p.PIDNamespace == here.PIDNamespace
}

// Stopped reports whether the observer sees that the process of v is stopped.
func (seen Observation) Stopped(v Vitals) bool {
	p := v.Identity()
	return seen.presence(p) == Present && seen.IsStopped != nil && seen.IsStopped(p)
}
