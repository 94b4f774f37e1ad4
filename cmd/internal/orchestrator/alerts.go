package orchestrator

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// GiveAlerts runs the hook for each alert of the group, and of those below and above it, that has
// not been given, in order, and records that (spec §11.7). If a hook fails, its alert still counts
// as given. A hook that hangs is killed, and later alerts wait for the next pass. If another
// process is giving alerts, it does nothing.
func (o *Orchestrator) GiveAlerts() error {
	for _, child := range o.others() {
		if err := child.GiveAlerts(); err != nil && !errors.Is(err, fileops.ErrNoGroup) {
			o.Env.Warnf("%s: %v", child.Group, err)
		}
	}
	return o.giveOwnAlerts()
}

// giveOwnAlerts runs the hook for the alerts of the group itself.
func (o *Orchestrator) giveOwnAlerts() error {
	if o.OnAlert == "" || o.Env.DryRun() {
		return nil
	}

	lock, err := o.Ledger.LockAlerts(o.Group)
	if errors.Is(err, fileops.ErrBusy) || err == nil && lock == nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()

	g, err := o.Ledger.ReadGroup(o.Group)
	if err != nil || g.Registry.AlertsGiven < 0 {
		return err
	}

	lines, err := o.Ledger.Alerts(o.Group, g.Registry.AlertsGiven)
	if err != nil {
		return err
	}

	for _, line := range g.Give(lines) {
		timedOut, err := hook.Run(o.OnAlert, line.Text,
			[]string{"DPL_LEDGER=" + o.Ledger.Dir(), "DPL_GROUP=" + o.Group}, o.HookOut)
		if err != nil {
			o.Env.Warnf("%s: --on-alert, alert %d: %v", o.Group, line.Seq, err)
		}
		if err := o.given(line.Seq); err != nil {
			return fmt.Errorf("alert %d was given, but this could not be recorded: %w",
				line.Seq, err)
		}
		if timedOut {
			return nil
		}
	}

	return nil
}

func (o *Orchestrator) given(seq int64) error {
	_, err := o.Ledger.EditGroup(o.Group, fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Given(seq, seen)
		})
	return err
}
