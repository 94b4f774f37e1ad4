package orchestrator

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// Until makes passes until done returns true, or an error because the goal can no longer be
// reached. It returns the last group passed to done. After timeout it returns the error from late.
//
// While another owner orchestrates the group, these passes stand by, and the other owner's passes
// do the work.
func (o *Orchestrator) Until(timeout time.Duration,
	done func(g group.Group) (bool, error), late func() error) (group.Group, error) {
	const pause = 100 * time.Millisecond
	for end := time.Now().Add(timeout); ; time.Sleep(pause) {
		g, err := o.Ledger.ReadGroup(o.Group)
		if err != nil {
			return g, err
		}

		switch is, err := done(g); {
		case is || err != nil:
			return g, err
		case time.Now().After(end):
			return g, late()
		}

		if _, err := o.Pass(); err != nil && !cli.Transient(err) {
			return g, err
		}
	}
}
