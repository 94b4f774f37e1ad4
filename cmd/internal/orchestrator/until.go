package orchestrator

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// Until makes passes until left returns "", or an error because the goal can no longer be reached.
// Left says what is still to happen. Until returns the last group passed to left, and after
// timeout cli.ErrTimeout with what is left.
//
// Its health checks end with timeout as well.
//
// While another owner orchestrates the group, these passes stand by, and the other owner's passes
// do the work.
func (o *Orchestrator) Until(
	timeout time.Duration, left func(group.Group) (string, error),
) (group.Group, error) {
	const pause = 100 * time.Millisecond
	end := time.Now().Add(timeout)
	o.checksEnd = end
	for ; ; time.Sleep(pause) {
		g, err := o.Ledger.ReadGroup(o.Group)
		if err != nil {
			return g, err
		}

		switch obstacle, err := left(g); {
		case obstacle == "" || err != nil:
			return g, err
		case time.Now().After(end):
			return g, fmt.Errorf("%w: after %v %s", cli.ErrTimeout, timeout, obstacle)
		}

		if _, err := o.Pass(); err != nil && !cli.Transient(err) {
			return g, err
		}
	}
}
