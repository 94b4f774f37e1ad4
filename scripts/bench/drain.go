//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// drainers is how many workers drain a queue.
const drainers = 8

// A drain is workers that do all tasks of a pool. Each task is true.
type drain struct {
	who     string
	tasks   int
	open    func(place string) (*pool, error)
	workers int // shells that run the loop of the pool; 0: its loop is one script for all
}

// timeDrain times how long it takes until no task is left, for each of them.
func (b *bench) timeDrain() error {
	all := []drain{{"dpl", b.plan.drained, b.selfDraining, 0}}
	for _, from := range b.poolers() {
		d := drain{from.who, b.plan.drained, nil, drainers}
		switch from.who {
		case "dpl":
			d.who = "dpl-loop"
		case "tsp", "nq":
			d.workers, d.tasks = 0, min(d.tasks, from.most)
		}
		d.open = func(place string) (*pool, error) { return from.open(b, place, d.tasks) }
		all = append(all, d)
	}

	for round := range b.plan.drains {
		for _, i := range b.random.Perm(len(all)) {
			if err := b.drain(all[i], round); err != nil {
				return fmt.Errorf("%s: %w", all[i].who, err)
			}
		}

		took, err := b.starter.time([]string{b.tools.null})
		if err != nil {
			return err
		}
		b.results.add("drain/null", "s", round, took.Seconds())
	}

	b.printTimes(fmt.Sprintf("%d workers do %d tasks, in all for each task", drainers,
		b.plan.drained), "drain/null", "drain/")
	return nil
}

// selfDraining is a queue that dpl-work drains.
func (b *bench) selfDraining(place string) (*pool, error) {
	ledger, err := b.newQueue(place, 0, b.plan.drained)
	return &pool{
		loop: shell([]string{b.command("dpl-work"), "q", "--ledger", ledger, "--jobs",
			strconv.Itoa(drainers)}),
		check: func(left int) error { return hasTasks(queueFile(ledger), left) },
	}, err
}

// drain makes a pool, drains it, and records the time for a task.
func (b *bench) drain(d drain, round int) error {
	p, err := d.open(fmt.Sprintf("drain-%s-%d", d.who, round))
	if p != nil && p.close != nil {
		defer p.close()
	}
	if err != nil {
		return err
	}

	script := p.loop
	if d.workers > 0 {
		worker := []string{"sh", "-c", `eval "$LOOP"`}
		script = strings.Repeat(shell(worker)+" & ", d.workers) + "wait"
	}
	by := p.by
	if by == nil {
		by = b.starter
	}

	if err := syncAll(b.work); err != nil {
		return err
	}
	took, err := b.once(contestant{argv: []string{"/bin/sh", "-c", script},
		by: by.with("LOOP=" + p.loop)})
	if err != nil {
		return err
	}
	if p.check != nil {
		if err := p.check(0); err != nil {
			return err
		}
	}

	b.results.add("drain/"+d.who, "s", round, took.Seconds()/float64(d.tasks))
	return nil
}
