package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// mostNames is under how many names a service may spend.
const mostNames = 64

// spend adds amounts to what s has spent, now and ever (supervision.md §27.1). It returns
// ErrTooManyNames.
func (s *Service) spend(amounts []policy.Amount) error {
	for _, a := range amounts {
		s.Spent, s.SpentTotal = s.Spent.Plus(a), s.SpentTotal.Plus(a)
	}

	if len(amounts) > 0 && len(s.SpentTotal) > mostNames {
		return ErrTooManyNames
	}
	return nil
}

// Measure brings what the service at i has spent up to date, as far as its budget limits what a
// pass can measure.
func (d *Draft) Measure(i int) {
	s := &d.Group.Registry.Services[i]
	if s.State == StateRunning && !s.IsGroup() && s.StartInfo != nil &&
		s.StartInfo.Budget.IsMeasured() {
		d.Services()[i].measured(s.used(d.Seen))
	}
}

// measured records u in what s has spent, where its budget limits it.
func (s *Service) measured(u observe.Usage) {
	for _, a := range []policy.Amount{
		{Name: policy.AmountCPU, N: u.CPU.Milliseconds()},
		{Name: policy.AmountMemory, N: u.MaxRSS},
	} {
		limits := func(limit policy.Amount) bool { return limit.Name == a.Name }
		if a.N > s.Spent.Of(a.Name) && slices.ContainsFunc(s.StartInfo.Budget.Limits, limits) {
			s.Spent = s.Spent.With(a)
		}
	}
}

// overspent returns why s is stopped for what it has spent, or nil.
func (s *Service) overspent() *StopFor {
	if s.StartInfo == nil {
		return nil
	}

	name, is := s.StartInfo.Budget.Exceeded(s.Spent)
	if !is {
		return nil
	}
	why := &StopFor{Reason: policy.ReasonBudget, Detail: name, Then: ThenDead}
	if s.StartInfo.Budget.Action == policy.BudgetRestart {
		why.Then = ThenRestart
	}
	return why
}

// askBudget is the beginning of the names of asks because of budgets, beside those of clocks.
const askBudget = policy.ReasonBudget + ":"

// BudgetAsks returns the budgets that ask s for a checkpoint now: those that are nearly spent, and
// that have not asked this process before.
func (s *Service) BudgetAsks() (asks []string) {
	if s.StartInfo == nil {
		return nil
	}

	for _, name := range s.StartInfo.Budget.NearlySpent(s.Spent) {
		if ask := askBudget + name; s.Asked.of(ask) == nil {
			asks = append(asks, ask)
		}
	}
	return asks
}
