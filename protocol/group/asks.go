package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Asks are what passes have asked of a process: a checkpoint, before a clock is over (spec §26.3).
// They are replaced, never changed. Nil are none.
type Asks struct{ all []ask }

// An ask is one of them.
type ask struct {
	clock    string
	at       time.Time
	beat     observe.Beat // of at
	answered bool         // a note was given since
	unknown  []wire.Member
	nested   *wire.Nested
}

// of returns the ask because of clock, or nil.
func (a *Asks) of(clock string) *ask {
	if a == nil {
		return nil
	}
	if i := slices.IndexFunc(a.all, func(b ask) bool { return b.clock == clock }); i >= 0 {
		return &a.all[i]
	}
	return nil
}

// with returns a with an ask because of clock, made now. It has none yet.
func (a *Asks) with(clock string, seen observe.Observation) *Asks {
	b := &Asks{[]ask{{clock: clock, at: seen.Now, beat: seen.Beat()}}}
	if a != nil {
		b.all = append(slices.Clone(a.all), b.all...)
	}
	return b
}

// without returns a without the ask because of clock.
func (a *Asks) without(clock string) *Asks {
	switch {
	case a.of(clock) == nil:
		return a
	case len(a.all) == 1:
		return nil
	}
	return &Asks{slices.DeleteFunc(slices.Clone(a.all),
		func(b ask) bool { return b.clock == clock })}
}

// again returns a as if all that is asked had been asked now.
func (a *Asks) again(seen observe.Observation) *Asks {
	if a == nil {
		return nil
	}
	b := &Asks{slices.Clone(a.all)}
	for i := range b.all {
		b.all[i].at, b.all[i].beat = seen.Now, seen.Beat()
	}
	return b
}

// answer returns a with all asks answered.
func (a *Asks) answer() *Asks {
	if len(a.open()) == 0 {
		return a
	}
	b := &Asks{slices.Clone(a.all)}
	for i := range b.all {
		b.all[i].answered = true
	}
	return b
}

// open returns the clocks whose asks are not answered, in the order of the asks.
func (a *Asks) open() (clocks []string) {
	if a == nil {
		return nil
	}
	for _, b := range a.all {
		if !b.answered {
			clocks = append(clocks, b.clock)
		}
	}
	return clocks
}

// times calls sight with the time of each ask, and its beat.
func (a *Asks) times(sight func(at time.Time, beat observe.Beat)) {
	if a == nil {
		return
	}
	for _, b := range a.all {
		sight(b.at, b.beat)
	}
}

func readAsks(r *wire.Reader) *Asks {
	a := &Asks{}
	r.Object(func(clock string) { a.all = append(a.all, readAsk(r, clock)) })
	if len(a.all) == 0 {
		return nil
	}
	return a
}

func readAsk(r *wire.Reader, clock string) ask {
	b := ask{clock: clock}
	r.Object(func(name string) {
		switch name {
		case "at":
			b.at = r.Time()
		case "beat":
			b.beat = observe.ReadBeat(r, &b.nested, name)
		case "answered":
			b.answered = r.Bool()
		default:
			r.Unknown(&b.unknown, name)
		}
	})

	r.Require("at")
	return b
}

// write writes the member asked, or nothing for nil.
func (a *Asks) write(w *wire.Writer) {
	if a == nil {
		return
	}

	w.Object("asked", func(w *wire.Writer) {
		for _, b := range a.all {
			w.Object(b.clock, func(w *wire.Writer) {
				w.Time("at", b.at)
				b.beat.Write(w, "beat", b.nested)
				w.OptBool("answered", b.answered)
				w.Unknown(b.unknown)
			})
		}
	})
}
