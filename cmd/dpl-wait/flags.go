package main

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// waiter returns a waiter for what the flags ask for.
func (c *wait) waiter(env *cli.Env) (*waiter, error) {
	w := &waiter{env: env, goal: c.goal, any: c.any, timeout: c.timeout, janitors: make(map[string]*janitor)}
	w.deaths.told = make(chan struct{}, 1)
	if env.DryRun() {
		return nil, cli.Usagef("--dry-run: waiting changes nothing")
	}
	if c.since != notGiven && w.goal != protocol.GoalChange {
		return nil, cli.Usagef("--since goes with --for change")
	}
	ops, err := c.operations()
	if err != nil {
		return nil, err
	}
	ids := ops
	if c.ready != nil {
		if ids, err = c.toBeReady(w, ops); err != nil {
			return nil, err
		}
		ops = []string{}
		if w.op != "" {
			ops = []string{w.op}
		}
	}
	for _, id := range ids {
		w.targets = append(w.targets, &target{id: id, state: notThere, outcome: protocol.Pending, since: int64(c.since)})
	}
	if c.timeout != 0 {
		w.over = time.After(c.timeout)
	}
	if w.ledger, err = w.open(c.ready == nil && w.goal.MayBegin()); err != nil {
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

// operations returns the given operations without duplicates.
func (c *wait) operations() ([]string, error) {
	if c.group != "" {
		if c.ops != nil {
			return nil, cli.Usagef("--group does not go with --op")
		}
		if c.ready == nil {
			return nil, cli.Usagef("--group goes with --ready")
		}
		return nil, nil
	}
	return checked("--op", c.ops, "DPL_OP", c.ready == nil)
}

// checked returns the ids given by a flag, or else by the environment variable, without duplicates.
func checked(flag string, values []string, variable string, required bool) ([]string, error) {
	if values == nil {
		values = []string{""}
	}
	var ids []string
	for _, value := range values {
		id, err := cli.ID(flag, value, variable)
		if err != nil {
			return nil, err
		}
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 && required {
		return nil, cli.Usagef("%s is required, or $%s", flag, variable)
	}
	return ids, nil
}

// toBeReady returns the ids of --ready, and sets in w the operation or group they belong to.
func (c *wait) toBeReady(w *waiter, ops []string) (ids []string, err error) {
	switch {
	case c.goal != protocol.GoalTerminal:
		return nil, cli.Usagef("--ready does not go with --for")
	case len(ops) > 1:
		return nil, cli.Usagef("--ready goes with one --op")
	case len(ops) == 1:
		w.op = ops[0]
	default:
		if w.group, err = cli.ID("--group", c.group, "DPL_GROUP"); err != nil {
			return nil, err
		}
		if w.group == "" {
			return nil, cli.Usagef("--ready goes with --op or --group, or $DPL_OP or $DPL_GROUP")
		}
	}
	return checked("--ready", c.ready, "", true)
}
