package group

import "slices"

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
