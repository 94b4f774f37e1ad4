package orchestrator

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// Until makes passes until done says that the group is as it should be, or that it will not come to
// that, which is the error. It returns the group as done saw it last. After timeout the error is what
// late says.
//
// While another owner orchestrates the group these passes stand by, and that one's do the work.
func (o *Orchestrator) Until(timeout time.Duration, done func(g protocol.Group) (bool, error), late func() error) (protocol.Group, error) {
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
