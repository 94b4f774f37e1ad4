package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Supervision is what a group does about the failures of its services as a whole (spec §22). Its
// zero value is that of a group without settings.
type Supervision struct {
	Strategy Strategy
	Set      []string // services that are restarted together, and have not started yet
	Unknown  []wire.Member
}

// A Strategy says which services are restarted together with one that failed (spec §22.2).
type Strategy string

const (
	OneForOne  Strategy = "one_for_one" // none; "" means the same
	OneForAll  Strategy = "one_for_all"
	RestForOne Strategy = "rest_for_one" // those that come after it in order
)

func (s Strategy) valid() bool { return s == OneForOne || s.together() }

// together reports whether a failure concerns more than the service that failed.
func (s Strategy) together() bool { return s == OneForAll || s == RestForOne }

// empty reports whether v is the supervision of a group without settings.
func (v *Supervision) empty() bool {
	return v.Strategy == "" && len(v.Set) == 0 && len(v.Unknown) == 0
}

// same reports whether v and w have the same text.
func (v *Supervision) same(w *Supervision) bool {
	return v.Strategy == w.Strategy && slices.Equal(v.Set, w.Set) &&
		slices.Equal(v.Unknown, w.Unknown)
}

// inSet reports whether the service id restarts together with others, and has not started yet.
func (r Registry) inSet(id string) bool { return slices.Contains(r.Supervision.Set, id) }

func readSupervision(r *wire.Reader) (v Supervision) {
	r.Object(func(name string) {
		switch name {
		case "strategy":
			v.Strategy = wire.Word(r, "strategy", Strategy.valid)
		case "set":
			r.Array(func() { v.Set = append(v.Set, r.ID()) })
		default:
			r.Unknown(&v.Unknown, name)
		}
	})

	return v
}

// write writes the member supervision, or nothing if v is empty.
func (v *Supervision) write(w *wire.Writer) {
	if v.empty() {
		return
	}

	w.Object("supervision", func(w *wire.Writer) {
		w.OptString("strategy", string(v.Strategy))
		if len(v.Set) > 0 {
			w.Strings("set", v.Set)
		}
		w.Unknown(v.Unknown)
	})
}
