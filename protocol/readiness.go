package protocol

// A Readiness is what a participant or service says about itself. It does not change how that is
// judged, but others may wait for it (spec §10, §13.2).
type Readiness string

const (
	ReadinessStarting Readiness = "starting"
	ReadinessReady    Readiness = "ready"
	ReadinessStopping Readiness = "stopping"
)

// Valid reports whether r is one of the three.
func (r Readiness) Valid() bool {
	return r == ReadinessStarting || r == ReadinessReady || r == ReadinessStopping
}

// A Notice is what a participant has said about its call. Frames share it, so it is replaced and
// never changed.
type Notice struct {
	Readiness Readiness
	Note      string
}

// with returns n updated by say.
func (n Notice) with(say Report) Notice {
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

// Said returns what the participant of f has said about it.
func (f *Frame) Said() Notice {
	if f.Notice == nil {
		return Notice{Readiness: ReadinessReady}
	}
	return *f.Notice
}

// notice returns f.Notice, and makes one if there is none.
func (f *Frame) notice() *Notice {
	if f.Notice == nil {
		f.Notice = &Notice{Readiness: ReadinessReady}
	}
	return f.Notice
}

func (d *decoder) readiness() Readiness {
	r := Readiness(d.String())
	if !r.Valid() {
		d.fail("unknown readiness %.40q", string(r))
	}
	return r
}
