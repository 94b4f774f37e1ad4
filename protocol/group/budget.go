package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Budget limits what a service may spend in one start (spec §27.2).
type Budget struct {
	Limits Amounts
	Action BudgetAction
}

// A BudgetAction says what follows when a service has spent more than its budget, and was stopped.
type BudgetAction string

const (
	BudgetTerminal BudgetAction = "terminal" // it is dead; "" means the same
	BudgetRestart  BudgetAction = "restart"  // it has failed, and starts again with nothing spent
)

func (a BudgetAction) valid() bool { return a == BudgetTerminal || a == BudgetRestart }

func (b Budget) equal(c Budget) bool {
	return b.Action == c.Action && slices.Equal(b.Limits, c.Limits)
}

const reasonBudget = "budget"

// Names of amounts that passes measure (spec §27.2).
const (
	amountCPU    = "cpuMs"
	amountMemory = "rssKb"
)

// measure brings what the service at i has spent up to date, as far as its budget limits what a
// pass can measure.
func (e *edit) measure(i int) {
	s := &e.g.Registry.Services[i]
	if s.State == StateRunning && !s.isGroup() && s.StartInfo != nil &&
		s.StartInfo.Budget.isMeasured() {
		e.services()[i].measured(s.used(e.seen))
	}
}

func (b Budget) isMeasured() bool {
	return slices.ContainsFunc(b.Limits,
		func(a Amount) bool { return a.Name == amountCPU || a.Name == amountMemory })
}

// used returns what the process of s has used and, if it has ended, what was reported of that.
func (s *Service) used(seen observe.Observation) (u observe.Usage) {
	if s.Ended != nil {
		u = observe.Usage{CPU: s.Ended.CPU, MaxRSS: s.Ended.MaxRSS}
	}
	if seen.Used == nil || !s.alive(seen) {
		return u
	}

	now, _ := seen.Used(s.Process, s.StartID, s.Keeper)
	return observe.Usage{CPU: max(u.CPU, now.CPU), MaxRSS: max(u.MaxRSS, now.MaxRSS)}
}

// measured records u in what s has spent, where its budget limits it.
func (s *Service) measured(u observe.Usage) {
	for _, a := range []Amount{{amountCPU, u.CPU.Milliseconds()}, {amountMemory, u.MaxRSS}} {
		limits := func(limit Amount) bool { return limit.Name == a.Name }
		if a.N > s.Spent.Of(a.Name) && slices.ContainsFunc(s.StartInfo.Budget.Limits, limits) {
			s.Spent = s.Spent.with(Amount{a.Name, min(a.N, MostSpent)})
		}
	}
}

// overspent returns why s is stopped for what it has spent, or nil.
func (s *Service) overspent() *StopFor {
	if s.StartInfo == nil {
		return nil
	}

	b := s.StartInfo.Budget
	for _, limit := range b.Limits {
		if s.Spent.Of(limit.Name) <= limit.N {
			continue
		}
		why := &StopFor{Reason: reasonBudget, Detail: limit.Name, Then: ThenDead}
		if b.Action == BudgetRestart {
			why.Then = ThenRestart
		}
		return why
	}
	return nil
}

// judgeBudget returns the budgets that ask s for a checkpoint now: those of which 80 % are spent,
// and that have not asked this process before (spec §27.5).
func (s *Service) judgeBudget() (asks []string) {
	if s.StartInfo == nil {
		return nil
	}

	for _, limit := range s.StartInfo.Budget.Limits {
		spent, name := s.Spent.Of(limit.Name), askBudget+limit.Name
		if spent > 0 && limit.N-spent <= limit.N/5 && s.Asked.of(name) == nil {
			asks = append(asks, name)
		}
	}
	return asks
}

// askBudget is the beginning of the names of asks because of budgets, beside those of clocks.
const askBudget = reasonBudget + ":"
