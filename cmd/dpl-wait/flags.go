package main

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/observe"
)

// fromNow is the revision of a change after the one that is found first.
const fromNow = -1

// waiter returns a waiter for what the flags ask for.
func (c *wait) waiter(env *cli.Env) (*waiter, error) {
	w := &waiter{env: env, goal: c.For, any: c.Any, timeout: time.Duration(c.Timeout),
		janitors: make(map[string]*janitor)}
	w.deaths.told = make(chan struct{}, 1)
	var ops []string
	if c.Group == "" {
		ops = distinct(c.Op)
	}

	var err error
	ids := ops
	if c.Ready != nil {
		if ids, err = c.toBeReady(w, ops); err != nil {
			return nil, err
		}
		ops = []string{}
		if w.op != "" {
			ops = []string{w.op}
		}
	}

	since := int64(fromNow)
	if c.Since != nil {
		since = int64(*c.Since)
	}

	for _, id := range ids {
		w.targets = append(w.targets, &target{id: id, state: notThere, outcome: observe.Pending,
			since: since})
	}

	if w.timeout != 0 {
		w.over = time.After(w.timeout)
	}
	if w.ledger, err = w.open(c.Ready == nil && w.goal.MayBegin()); err != nil {
		return nil, err
	}

	by, err := env.ActorID()
	for _, op := range ops {
		w.janitors[op] = &janitor{env: env, ledger: w.ledger, by: by, idle: !env.MayEdit()}
	}

	w.notifier = w.ledger.Notify(ops, c.groups(w))

	return w, err
}

func (c *wait) groups(w *waiter) []string {
	if w.group == "" {
		return nil
	}
	return []string{w.group}
}

// distinct returns ids without duplicates.
func distinct(ids []cli.ID) (all []string) {
	for _, id := range ids {
		if !slices.Contains(all, string(id)) {
			all = append(all, string(id))
		}
	}
	return all
}

// toBeReady returns the ids of --ready, and sets in w the operation or group they belong to.
func (c *wait) toBeReady(w *waiter, ops []string) (ids []string, err error) {
	switch {
	case len(ops) > 1:
		return nil, cli.Usagef("--ready goes with one --op")
	case len(ops) == 1:
		w.op = ops[0]
	default:
		if w.group, err = c.Group.Or("DPL_GROUP"); err != nil {
			return nil, err
		}
		if w.group == "" {
			return nil, cli.Usagef("--ready goes with --op or --group, or $DPL_OP or $DPL_GROUP")
		}
	}

	return distinct(c.Ready), nil
}
