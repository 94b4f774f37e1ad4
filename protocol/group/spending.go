package group

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// ErrTooManyNames means that a service has spent under more than 64 names (spec §27.1).
var ErrTooManyNames = errors.New("it has spent under too many names")

// mostNames is under how many names a service may spend.
const mostNames = 64

// spend adds amounts to what s has spent, now and ever (spec §27.1). It returns ErrTooManyNames.
func (s *Service) spend(amounts []policy.Amount) error {
	for _, a := range amounts {
		s.Spent, s.SpentTotal = s.Spent.Plus(a), s.SpentTotal.Plus(a)
	}

	if len(amounts) > 0 && len(s.SpentTotal) > mostNames {
		return ErrTooManyNames
	}
	return nil
}
