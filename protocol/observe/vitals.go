package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Vitals are the members of a frame, supervisor or service that show whether it is alive.
type Vitals struct {
	PID           int       // 0: unknown
	Process       Process   // zero: identity not known
	LastHeartbeat time.Time // zero: none
	Beat          Beat      // zero: none
	Heartbeats    bool      // it promised heartbeats: without them it is stale although it exists
	Grace         *Grace    // nil: none

	nested *wire.Nested
}

// Identity returns the process of v if its identity is known (spec §3.4), and the zero Process
// otherwise.
func (v *Vitals) Identity() Process { return Identity(v.PID, v.Process) }

// Counting returns v without a process, a beat and a grace that no longer count (spec §3.4).
func (v Vitals) Counting() Vitals {
	if v.Process.PID != v.PID {
		v.Process = Process{}
	}
	v.Beat, v.Grace = v.Beat.Counting(v.LastHeartbeat), v.Grace.counting(v.LastHeartbeat)
	return v
}

// SetProcess gives v another process.
func (v *Vitals) SetProcess(pid int, p Process) {
	v.PID, v.Process, v.nested = pid, p, v.nested.Without("process")
}

// Refresh records a heartbeat now.
func (v *Vitals) Refresh(seen Observation) {
	v.LastHeartbeat, v.Beat, v.Grace = seen.Now, seen.Beat(), nil
}

// NoHeartbeat removes the last heartbeat of v, also what nobody here knows of its beat.
func (v *Vitals) NoHeartbeat() {
	v.LastHeartbeat, v.Beat, v.nested = time.Time{}, Beat{}, v.nested.Without("beat")
}

// Members are process, beat and grace. The member heartbeats, which comes earlier, is the record's.
func (v *Vitals) Members(c *wire.Codec) {
	v.Process.Member(c, "process", &v.nested)
	v.Beat.Member(c, "beat", &v.nested)
	wire.Pointer(c, "grace", &v.Grace, (*Grace).record)
}

// Times calls sight with each time whose age matters, and its beat.
func (v *Vitals) Times(sight func(at time.Time, beat Beat)) {
	sight(v.LastHeartbeat, v.Beat)
	if v.Grace != nil {
		sight(v.Grace.At, v.Grace.Beat)
	}
}
