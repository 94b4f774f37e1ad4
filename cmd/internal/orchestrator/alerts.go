package orchestrator

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// giveFor is how long GiveAlerts gives alerts: after that it runs no other hook.
const giveFor = time.Minute

// GiveAlerts runs the hook for each alert of the group, and of those below and above it, that has
// not been given, in order, and records that (spec §11.7). An alert that the hook asks for again
// keeps those after it waiting. If another process is giving alerts, it does nothing.
func (o *Orchestrator) GiveAlerts() error {
	now := time.Now
	if o.clock != nil {
		now = o.clock
	}
	end := now().Add(giveFor)
	return o.giveAlerts(giving{o.Prompt != nil, func() bool { return now().Before(end) }})
}

// A giving is a call of GiveAlerts.
type giving struct {
	prompted bool        // something has asked for the pass
	goesOn   func() bool // whether there is time for another hook
}

func (o *Orchestrator) giveAlerts(call giving) error {
	for _, child := range o.others() {
		if err := child.giveAlerts(call); err != nil && !errors.Is(err, fileops.ErrNoGroup) {
			o.Env.Warnf("%s: %v", child.Group, err)
		}
	}
	return o.giveOwnAlerts(call)
}

// giveOwnAlerts runs the hook for the alerts of the group itself.
func (o *Orchestrator) giveOwnAlerts(call giving) error {
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

	g, seen, err := o.observed()
	if err != nil || g.Registry.AlertsGiven < 0 {
		return err
	}

	lines, err := o.Ledger.Alerts(o.Group, g.Registry.AlertsGiven)
	if err != nil {
		return err
	}

	alerts, upTo := g.Give(lines, call.prompted, seen)
	last := g.Registry.AlertsGiven
	for _, alert := range alerts {
		if !call.goesOn() {
			return nil
		}
		if again, err := o.give(alert); err != nil || again {
			return err
		}
		last = alert.Seq
	}

	if upTo > last { // the rest is not for the hook
		return o.given(upTo, false)
	}
	return nil
}

// observed returns the group, and what is observed.
func (o *Orchestrator) observed() (g group.Group, seen observe.Observation, err error) {
	_, err = o.Ledger.EditGroup(o.Group, fileops.DryRun,
		func(before group.Group, now observe.Observation) (group.Group, error) {
			g, seen = before, now
			return before, nil
		})
	return g, seen, err
}

// give runs the hook for alert, and records that. It reports whether the hook asks for it again.
func (o *Orchestrator) give(alert group.HookAlert) (again bool, err error) {
	timedOut, err := hook.Run(o.OnAlert, alert.Text, []string{"DPL_LEDGER=" + o.Ledger.Dir(),
		"DPL_GROUP=" + o.Group, "DPL_ALERT_TRY=" + strconv.Itoa(alert.Try)}, o.HookOut)
	again = hook.Again(timedOut, err)
	follows := "the alert is lost: a hook gets it again if it exits 75"
	switch {
	case again && alert.Try < group.MaxAlertTries:
		follows = "a later pass gives it again"
	case again:
		follows = fmt.Sprintf("the alert is lost after %d tries", alert.Try)
	}
	if err != nil {
		o.Env.Warnf("%s: --on-alert, alert %d: %v: %s", o.Group, alert.Seq, err, follows)
	}
	return again, o.given(alert.Seq, again)
}

// given records that the hook got alerts up to seq, or, with again, that it asks for that again.
func (o *Orchestrator) given(seq int64, again bool) error {
	_, err := o.Ledger.EditGroup(o.Group, fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Given(seq, again, seen)
		})
	if err != nil {
		return fmt.Errorf("alert %d was given, but this could not be recorded: %w", seq, err)
	}
	return nil
}
