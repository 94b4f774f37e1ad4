package orchestrator

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// StopUnrecorded stops services although the disk is full (spec §11.8): it applies verb, which asks for
// that, and makes passes in memory that start nothing, while it holds the group's lock. It returns once
// a result is committed, or after timeout an error that says what is left, which left returns for a
// group, "" if nothing is.
func (o *Orchestrator) StopUnrecorded(timeout time.Duration, verb fileops.Verb[group.Group],
	left func(group.Group) string) error {
	const pause = 100 * time.Millisecond
	return o.Ledger.HoldGroup(o.Group, fileops.Existing, func(tx *fileops.GroupTx) error {
		g, err := verb(tx.Value(), tx.Observe())
		for end := time.Now().Add(timeout); err == nil; time.Sleep(pause) {
			seen := tx.Observe()
			request := o.arguments(g, seen)
			request.Room = new(int)
			var d *plan.Decision
			if d, err = plan.Pass(g, request, seen); err != nil {
				break
			}
			if d.StandBy {
				return fmt.Errorf("%w: %s orchestrates the group", cli.ErrImpossible, g.Registry.Owner)
			}
			o.signal(g, d.Actions)

			g = d.Group()
			full := tx.Commit(g)
			if full == nil {
				return nil
			}
			if time.Now().After(end) {
				return unrecorded(left(g), full)
			}
		}
		return err
	})
}

// unrecorded returns the error for a stop of which nothing was committed because of full.
func unrecorded(left string, full error) error {
	if left == "" {
		left = "stopped"
	}
	return cli.WithStatus(cli.StatusCommitted, fmt.Errorf("%s, but that is not recorded, and the next "+
		"pass may start services again: make room, and ask again: %w", left, full))
}
