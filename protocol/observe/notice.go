package observe

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/wire"
)

var (
	// ErrOtherProcess refuses a heartbeat or registration.
	ErrOtherProcess = errors.New("call belongs to another process")

	// ErrNotReady refuses a report of being idle.
	ErrNotReady = errors.New("only what is ready can be idle")
)

// A Report is what a participant or service says with a heartbeat, besides being alive.
type Report struct {
	Cleaning  bool      // of a participant: it is cleaning up
	Readiness Readiness // "": unchanged
	Note      *string   // nil: unchanged
}

// A Readiness is what a participant or service says about itself. It does not change how that is
// judged, but others may wait for it (spec §10, §13.2).
type Readiness string

const (
	ReadinessStarting Readiness = "starting"
	ReadinessReady    Readiness = "ready"
	ReadinessIdle     Readiness = "idle" // ready, and with nothing to do
	ReadinessStopping Readiness = "stopping"
)

// Valid reports whether r is one of the four.
func (r Readiness) Valid() bool {
	return r == ReadinessStarting || r.Ready() || r == ReadinessStopping
}

// Ready reports whether whoever says r can be used.
func (r Readiness) Ready() bool { return r == ReadinessReady || r == ReadinessIdle }

// Member is the member readiness, which is not written if r is ready or zero.
func (r *Readiness) Member(c *wire.Codec) {
	wire.Word(c, "readiness", r, "readiness", Readiness.Valid,
		wire.If(*r != "" && *r != ReadinessReady))
}

// A Notice is what a participant or service has said about itself.
type Notice struct {
	Readiness Readiness
	Note      string
}

// With returns n updated by say.
func (n Notice) With(say Report) Notice {
	if say.Readiness != "" {
		n.Readiness = say.Readiness
	}
	if say.Note != nil {
		n.Note = *say.Note
	}
	return n
}

// String returns n in words: "" if it is ready and has no note.
func (n Notice) String() string {
	switch {
	case n.Readiness == ReadinessReady:
		return n.Note
	case n.Note == "":
		return string(n.Readiness)
	}
	return string(n.Readiness) + ": " + n.Note
}

// Members are readiness and note.
func (n *Notice) Members(c *wire.Codec) {
	n.Readiness.Member(c)
	c.String("note", &n.Note, wire.IfSet)
}
