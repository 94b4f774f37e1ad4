package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Asks are what passes have asked of a process: a checkpoint, before a clock is over
// (supervision.md §26.3). They are replaced, never changed. Nil are none.
type Asks struct{ all []ask }

// An ask is one of them.
type ask struct {
	cause    string // a clock, budget or violation
	at       time.Time
	beat     observe.Beat // of at
	answered bool         // a note was given since
	unknown  []wire.Member
	nested   *wire.Nested
}

// of returns the ask because of cause, or nil.
func (a *Asks) of(cause string) *ask {
	if a == nil {
		return nil
	}
	if i := slices.IndexFunc(a.all, func(b ask) bool { return b.cause == cause }); i >= 0 {
		return &a.all[i]
	}
	return nil
}

// With returns a with an ask because of cause, made now. It has none yet.
func (a *Asks) With(cause string, seen observe.Observation) *Asks {
	b := &Asks{[]ask{{cause: cause, at: seen.Now, beat: seen.Beat()}}}
	if a != nil {
		b.all = append(slices.Clone(a.all), b.all...)
	}
	return b
}

// without returns a without the ask because of cause.
func (a *Asks) without(cause string) *Asks {
	switch {
	case a.of(cause) == nil:
		return a
	case len(a.all) == 1:
		return nil
	}
	return &Asks{slices.DeleteFunc(slices.Clone(a.all),
		func(b ask) bool { return b.cause == cause })}
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

// open returns the causes whose asks are not answered, in the order of the asks.
func (a *Asks) open() (causes []string) {
	if a == nil {
		return nil
	}
	for _, b := range a.all {
		if !b.answered {
			causes = append(causes, b.cause)
		}
	}
	return causes
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

// asksMember is the member asked, an object of asks by their clocks. Nil is not written.
func asksMember(c *wire.Codec, a **Asks) {
	if c.At("asked") {
		c.Own("asked", func(r *wire.Reader) { *a = readAsks(r) },
			func(w *wire.Writer) { (*a).write(w) }, wire.If(*a != nil))
	}
}

func readAsks(r *wire.Reader) *Asks {
	a := &Asks{}
	r.Object(func(cause string) {
		a.all = append(a.all, ask{cause: cause})
		a.all[len(a.all)-1].record(r.Codec())
	})
	if len(a.all) == 0 {
		return nil
	}
	return a
}

func (a *Asks) write(w *wire.Writer) {
	w.Object("asked", func(w *wire.Writer) {
		for i := range a.all {
			b := &a.all[i]
			w.Object(b.cause, func(w *wire.Writer) { b.record(w.Codec()) })
		}
	})
}

func (b *ask) record(c *wire.Codec) { c.Record(&b.unknown, b.members, "at") }

func (b *ask) members(c *wire.Codec) {
	c.Time("at", &b.at, wire.Always)
	b.beat.Member(c, "beat", &b.nested)
	c.Bool("answered", &b.answered, wire.IfSet)
}
