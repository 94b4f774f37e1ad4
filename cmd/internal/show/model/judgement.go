package model

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Judgement says whether a call, a supervisor or a service is alive now.
type Judgement struct {
	Verdict    string        // "alive", "stopped" if its process is stopped, or why it is dead
	Age        time.Duration // of its last heartbeat
	Heard      bool          // it has sent one
	GraceUntil time.Time     // zero: it has no grace
}

// judge returns the judgement of v, without its grace. It is not live if it was declared dead.
func judge(
	v observe.Vitals, threshold time.Duration, live bool, seen observe.Observation,
) (j Judgement) {
	evidence, age := seen.Judge(v, threshold)
	j.Verdict, j.Age = "alive", age
	switch {
	case evidence != "":
		j.Verdict = string(evidence)
	case !live:
		j.Verdict = "dead"
	case seen.Stopped(v):
		j.Verdict = "stopped"
	}

	j.Heard = !v.LastHeartbeat.IsZero()
	return j
}

// Dead reports whether the verdict is evidence of death.
func (j Judgement) Dead() bool { return j.Verdict != "alive" && j.Verdict != "stopped" }
