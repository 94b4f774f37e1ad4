package work

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// alerts gives the alerts of a queue to --on-alert, beside what else this process does.
type alerts struct {
	env     *cli.Env
	ledger  *fileops.Ledger
	queue   string
	command string
	giving  chan struct{} // closed when the last batch has been given; nil: there was none
}

func (c *work) newAlerts(env *cli.Env, l *fileops.Ledger) *alerts {
	return &alerts{env: env, ledger: l, queue: string(c.Queue), command: string(c.OnAlert)}
}

// start gives the alerts of q, unless some are being given.
func (a *alerts) start(q *queue.Queue) {
	if a.command == "" || len(q.Alerts()) == 0 {
		return
	}
	if a.giving != nil {
		select {
		case <-a.giving:
		default:
			return
		}
	}

	giving := make(chan struct{})
	a.giving = giving
	go func() {
		defer close(giving)
		a.give()
	}()
}

// finish gives all alerts that are left.
func (a *alerts) finish() {
	if a.giving != nil {
		<-a.giving
	}
	if a.command != "" && !a.env.DryRun() {
		a.give()
	}
}

// give runs the hook for each alert, and records that (spec §37.6). If a hook fails, its alert
// still counts as given. A hook that hangs is killed, and later alerts wait for the next time. If
// another process is giving alerts, it does nothing.
func (a *alerts) give() {
	if err := a.giveAll(); err != nil {
		a.env.Warnf("%s: --on-alert: %v", a.queue, err)
	}
}

func (a *alerts) giveAll() error {
	q, err := a.ledger.ReadQueue(a.queue)
	if err != nil || len(q.Alerts()) == 0 {
		return nil // that it cannot be read, dpl-work has said
	}
	lock, err := a.ledger.LockQueueAlerts(a.queue)
	if errors.Is(err, fileops.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()

	if q, err = a.ledger.ReadQueue(a.queue); err != nil {
		return err
	}
	for _, alert := range q.Alerts() {
		timedOut, err := a.run(alert.Line(a.queue))
		if err != nil {
			a.env.Warnf("%s: --on-alert: %s: %v", a.queue, alert, err)
		}
		if err := a.given(alert); err != nil {
			return fmt.Errorf("%s: it was told, but this could not be recorded: %w", alert, err)
		}
		if timedOut {
			return nil
		}
	}
	return nil
}

// run runs the hook with an alert.
func (a *alerts) run(line string) (timedOut bool, err error) {
	return hook.Run(a.command, line,
		[]string{"DPL_LEDGER=" + a.ledger.Dir(), "DPL_QUEUE=" + a.queue}, a.env.Stderr)
}

// failed tells that this worker ends, because it cannot work. The queue does not know of it, so it
// is told once, if at all.
func (a *alerts) failed(reason string, at time.Time) {
	if a.command == "" {
		return
	}
	line := queue.WorkerFailed(a.queue, reason, at)
	if _, err := a.run(line); err != nil {
		a.env.Warnf("%s: --on-alert: worker failed: %v", a.queue, err)
	}
}

func (a *alerts) given(alert queue.Alert) error {
	_, err := a.env.EditQueue(a.ledger, a.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Alerted(alert, seen) })
	return err
}
