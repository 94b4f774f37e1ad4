package policy

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Amount is how much of something was spent, or may be, such as 600 tokens.
type Amount struct {
	Name string // an id
	N    int64  // 0 to 2^62
}

// MostSpent is the highest amount that is counted.
const MostSpent = 1 << 62

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

// With returns all with another amount of a.Name, at most MostSpent.
func (all Amounts) With(a Amount) Amounts {
	a.N = min(a.N, MostSpent)
	i := slices.IndexFunc(all, func(old Amount) bool { return old.Name == a.Name })
	if i < 0 {
		return append(slices.Clip(all), a)
	}
	after := slices.Clone(all)
	after[i] = a
	return after
}

// Plus returns all with a added. The sum stays at the most that can be counted.
func (all Amounts) Plus(a Amount) Amounts {
	spent, more := all.Of(a.Name), min(max(a.N, 0), MostSpent)
	if spent > MostSpent-more {
		return all.With(Amount{a.Name, MostSpent})
	}
	return all.With(Amount{a.Name, spent + more})
}

// Member is the member name, which is not written if there are no amounts. It reports whether it
// was read now.
func (all *Amounts) Member(c *wire.Codec, name string) bool {
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

// A Budget limits what a service may spend in one start (supervision.md §27.2).
type Budget struct {
	Limits Amounts
	Action BudgetAction
}

// Equal reports whether b and c are the same.
func (b Budget) Equal(c Budget) bool {
	return b.Action == c.Action && slices.Equal(b.Limits, c.Limits)
}

// IsMeasured reports whether b limits what a pass can measure.
func (b Budget) IsMeasured() bool {
	return slices.ContainsFunc(b.Limits,
		func(a Amount) bool { return a.Name == AmountCPU || a.Name == AmountMemory })
}

// Exceeded returns the name of the first amount of which more was spent than b allows, and whether
// there is one.
func (b Budget) Exceeded(spent Amounts) (name string, is bool) {
	for _, limit := range b.Limits {
		if spent.Of(limit.Name) > limit.N {
			return limit.Name, true
		}
	}
	return "", false
}

// NearlySpent returns the names of the amounts of which at least 80 % of what b allows were spent
// (§27.5), in the order of its limits.
func (b Budget) NearlySpent(spent Amounts) (names []string) {
	for _, limit := range b.Limits {
		if n := spent.Of(limit.Name); n > 0 && limit.N-n <= limit.N/5 {
			names = append(names, limit.Name)
		}
	}
	return names
}

// A BudgetAction says what follows when a service has spent more than its budget, and was stopped.
type BudgetAction string

const (
	BudgetTerminal BudgetAction = "terminal" // it is dead; "" means the same
	BudgetRestart  BudgetAction = "restart"  // it has failed, and starts again with nothing spent
)

// Valid reports whether a is one of them.
func (a BudgetAction) Valid() bool { return a == BudgetTerminal || a == BudgetRestart }

// Names of amounts that passes measure (§27.2).
const (
	AmountCPU    = "cpuMs"
	AmountMemory = "rssKb"
)
