package group

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// ErrTooManyNames means that a service has spent under more than 64 names (spec §27.1).
var ErrTooManyNames = errors.New("it has spent under too many names")

// An Amount is how much of something was spent, or may be, such as 600 tokens.
type Amount struct {
	Name string // an id
	N    int64  // 0 to 2^62
}

// MostSpent is the highest amount that is counted.
const MostSpent = 1 << 62

// mostNames is under how many names a service may spend.
const mostNames = 64

// Amounts are amounts of different names, in the order of the file. They are replaced, never
// changed.
type Amounts []Amount

// Of returns the amount of name, or 0.
func (all Amounts) Of(name string) int64 {
	for _, a := range all {
		if a.Name == name {
			return a.N
		}
	}
	return 0
}

// with returns all with another amount of a.Name.
func (all Amounts) with(a Amount) Amounts {
	i := slices.IndexFunc(all, func(old Amount) bool { return old.Name == a.Name })
	if i < 0 {
		return append(slices.Clip(all), a)
	}
	after := slices.Clone(all)
	after[i] = a
	return after
}

// plus returns all with a added. The sum stays at the most that can be counted.
func (all Amounts) plus(a Amount) Amounts {
	spent, more := all.Of(a.Name), min(max(a.N, 0), MostSpent)
	if spent > MostSpent-more {
		return all.with(Amount{a.Name, MostSpent})
	}
	return all.with(Amount{a.Name, spent + more})
}

// spend adds amounts to what s has spent, now and ever (spec §27.1). It returns ErrTooManyNames.
func (s *Service) spend(amounts []Amount) error {
	for _, a := range amounts {
		s.Spent, s.SpentTotal = s.Spent.plus(a), s.SpentTotal.plus(a)
	}

	if len(amounts) > 0 && len(s.SpentTotal) > mostNames {
		return ErrTooManyNames
	}
	return nil
}

// member is the member name, which is not written if there are no amounts.
func (all *Amounts) member(c *wire.Codec, name string) bool {
	return c.At(name) && all.object(c, name)
}

func (all *Amounts) object(c *wire.Codec, name string) bool {
	return c.Own(name, func(r *wire.Reader) {
		r.Object(func(name string) {
			r.CheckID(name)
			*all = append(*all, Amount{name, r.Revision()})
		})
	}, func(w *wire.Writer) {
		w.Object(name, func(w *wire.Writer) {
			for _, a := range *all {
				w.Int(a.Name, a.N)
			}
		})
	}, wire.If(len(*all) > 0))
}
