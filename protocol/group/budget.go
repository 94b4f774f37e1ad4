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

// judgeBudget returns the budgets that ask s for a checkpoint now: those of which 80 % are spent, and
// that have not asked this process before (spec §27.5).
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
