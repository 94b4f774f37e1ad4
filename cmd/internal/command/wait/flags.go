package wait

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/protocol/observe"
)

// fromNow is the revision of a change after the one that is found first.
const fromNow = -1

// patience is how long a wait for services that are not registered says nothing.
const patience = time.Second

// waiter returns a waiter for what the flags ask for.
func (c *wait) waiter(env *cli.Env, life *follow.Life) (*waiter, error) {
	w := &waiter{env: env, life: life, goal: c.For, any: c.Any, ended: c.Ended != nil,
		timeout: time.Duration(c.Timeout), janitors: make(map[string]*janitor)}
	w.deaths = follow.NewDeaths()
	ids, ops, groups, err := c.subjects(w)
	if err != nil {
		return nil, err
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
	if w.ledger, err = w.open(c.Ready == nil && c.Ended == nil && w.goal.MayBegin()); err != nil {
		return nil, err
	}

	life.In(w.ledger)

	by, err := env.ActorID()
	for _, op := range ops {
		w.janitors[op] = &janitor{env: env, ledger: w.ledger, by: by, idle: !env.MayEdit()}
	}

	w.notifier = w.ledger.Notify(append(life.Operations(), ops...), groups)
	return w, err
}

// subjects returns the ids of the targets, and the operations and groups in which they are. It
// tells w how to read them.
func (c *wait) subjects(w *waiter) (ids, ops, groups []string, err error) {
	ops, ids = cli.Distinct(c.Op), cli.Distinct(c.Ready)
	switch {
	case c.Ended != nil:
		w.read = w.readEnded
		groups, err = c.groupOf(w, "--ended goes with --group, or $DPL_GROUP")
		return cli.Distinct(c.Ended), nil, groups, err
	case c.Ready == nil:
		w.read = w.readOperations
		return ops, ops, nil, nil
	case !c.Given("group") && len(ops) > 1:
		return nil, nil, nil, cli.Usagef("--ready goes with one --op")
	case !c.Given("group") && len(ops) == 1:
		w.within, w.read = ops[0], w.readCalls
		return ids, ops, nil, nil
	}

	w.read, w.missing = w.readServices, time.After(patience)
	groups, err = c.groupOf(w, "--ready goes with --op or --group, or $DPL_OP or $DPL_GROUP")
	return ids, nil, groups, err
}

// groupOf tells w the group of its services, and returns it. Without one, the error says missing.
func (c *wait) groupOf(w *waiter, missing string) (groups []string, err error) {
	if w.within = string(c.Group); w.within == "" {
		err = cli.Usagef("%s", missing)
	}
	return []string{w.within}, err
}
