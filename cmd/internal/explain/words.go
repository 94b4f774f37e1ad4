package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
)

// Ago returns how long ago something was.
func Ago(age time.Duration) string {
	if age < 0 {
		return "in " + Span(-max(age, -math.MaxInt64)) // limited to the longest duration
	}
	return Span(age) + " ago"
}

// Span returns d as precisely as people care.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Minute:
		return d.Truncate(time.Second).String()
	}
	return d.Truncate(time.Millisecond).String()
}

// Is returns that something is in a state, as the end of a sentence.
func Is(state string) string {
	switch state {
	case "crashed", "failed", "completed", "expired":
		return "has " + state
	case string(protocol.FrameCleaningUp):
		return "is cleaning up"
	case string(protocol.FrameCleanedUp):
		return "has cleaned up"
	}
	return "is " + state
}

// Heard returns when the last heartbeat of j was, or "" if there was none.
func Heard(j model.Judgement) string {
	if !j.Heard {
		return ""
	}
	return Ago(j.Age)
}
