//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writerFrames is how many calls the operation has that all writers beat in.
const writerFrames = 3

// A contender is a command that many processes run at once, on one operation.
type contender struct {
	who      string
	argv     []string
	revision func() (int64, error) // grows by one with each edit
	fraction int                   // it makes one of so many edits of the others, because it is slow
}

// timeWriters lets 1 and more workers make heartbeats in one operation.
func (b *bench) timeWriters() error {
	for _, p := range b.plan.writers {
		all, err := b.contenders(p.writers)
		if err != nil {
			return err
		}

		for repetition := range p.repetitions {
			for _, i := range b.random.Perm(len(all)) {
				if err := b.contend(all[i], p.writers, repetition); err != nil {
					return fmt.Errorf("%s: %w", all[i].who, err)
				}
			}
		}

		b.printWriters(p, all)
	}

	return nil
}

func (b *bench) contenders(writers int) (all []contender, err error) {
	place := fmt.Sprint("writers-", writers)
	ledger, err := b.newStack("ledger-"+place, writerFrames, false)
	if err != nil {
		return nil, err
	}

	all = []contender{{
		who: "dpl",
		argv: []string{b.command("dpl-heartbeat"), "--ledger", ledger, "--op", "op", "--call",
			"call-1", "--lock-timeout", "60s"},
		revision: func() (int64, error) { return revisionIn(operationFile(ledger, "op")) },
		fraction: 1,
	}}

	for _, p := range b.peers() {
		place, who := p.who+"-"+place, p.who
		c := contender{who: who, fraction: 1}
		switch who {
		case "sqlite-wal":
			c.revision = func() (int64, error) { return b.sqliteRevision(place) }
		case "redis":
			c.revision = func() (int64, error) { return b.redisRevision(place) }
		case "jq":
			c.revision = func() (int64,
				error) {
				return revisionIn(filepath.Join(b.work, place, "op.json"))
			}
			c.fraction = 8
		default:
			continue
		}

		argv, err := p.prepare(b, place, writerFrames)
		if err != nil {
			return nil, err
		}

		c.argv = argv(heartbeat)
		all = append(all, c)
	}

	return all, nil
}

func revisionIn(file string) (int64, error) {
	op, err := readOperation(file)
	return op.Revision, err
}

// contend lets writers work at once, and notes what came of it.
func (b *bench) contend(c contender, writers, repetition int) error {
	before, err := c.revision()
	if err != nil {
		return err
	}

	crew, err := b.hire(writers, job{Argv: c.argv, Edits: b.editsOf(c), Dir: b.work,
		Env: b.starter.env})
	if err != nil {
		return err
	}

	began, done, err := crew.work()
	if err != nil {
		return err
	}

	after, err := c.revision()
	if err != nil {
		return err
	}

	return b.noteShifts(fmt.Sprintf("writers/%d/%s/", writers, c.who), repetition, began, done,
		after-before)
}

// noteShifts records the work of workers since began, in which time the operation has grown by a
// number of revisions. Edits refused because of the others count; any other failure is returned.
func (b *bench) noteShifts(prefix string, repetition int, began time.Duration, done []shift,
	revisions int64) error {
	var took, ends []float64
	refused := 0
	for _, s := range done {
		for _, t := range s.Took {
			took = append(took, t.Seconds())
		}

		for _, why := range s.Refused {
			if !strings.Contains(why, "database is locked") {
				return errors.New(why)
			}
		}

		refused += len(s.Refused)
		ends = append(ends, (s.Ended - began).Seconds())
	}

	note := func(name, unit string, value float64) {
		b.results.add(prefix+name, unit, repetition,
			value)
	}
	note("throughput", "1/s", float64(len(took))/slices.Max(ends))
	note("p50", "s", quantile(took, 0.5))
	note("p99", "s", quantile(took, 0.99))
	note("slowest", "x", slices.Max(ends)/slices.Min(ends))
	note("refused", "edits", float64(refused))
	note("lost", "edits", float64(int64(len(took))-revisions))

	return nil
}

// editsOf returns how many edits each writer makes.
func (b *bench) editsOf(c contender) int { return max(3, b.plan.edits/c.fraction) }
