//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// patience limits how long it may take until a process waits, or answers.
const patience = 10 * time.Second

// timeWait times dpl-wait from the rename that it waits for to its exit, and measures what it uses
// while waiting.
func (b *bench) timeWait() error {
	ledger, err := b.newLedger("wait", "op")
	if err != nil {
		return err
	}

	file := operationFile(ledger, "op")
	ours := contestant{name: "wait/dpl", argv: []string{b.command("dpl-wait"), "--ledger", ledger,
		"--op", "op", "--for", "completed"}}
	all := []contestant{ours}
	if b.tools.await != "" {
		all = append(all, contestant{name: "wait/c",
			argv: []string{b.tools.await, filepath.Dir(file), filepath.Base(file)}})
	}

	for round := range b.plan.waits {
		for _, i := range b.random.Perm(len(all)) {
			if err := b.await(all[i], file, round); err != nil {
				return err
			}
		}

		if round < b.plan.idles {
			if err := b.idle(ours, file, round); err != nil {
				return err
			}
		}

		took, err := b.starter.time([]string{b.tools.null})
		if err != nil {
			return err
		}

		b.results.add("wait/null", "s", round, took.Seconds())
	}

	b.printTimes("dpl-wait, from a rename to its exit", "wait/null", "wait/")
	b.printf("while it waits, in %v: %v ticks of processor time, %v voluntary context switches\n",
		b.plan.idle,
		b.results.values("wait/idle-ticks"), b.results.values("wait/idle-switches"))

	return nil
}

// await makes c wait until file has the new content, and records how long after that it has ended.
func (b *bench) await(c contestant, file string, round int) error {
	next := filepath.Join(b.work, "wait-next")
	p, err := b.waiting(c, file, next)
	if err != nil {
		return err
	}
	defer p.Kill()

	began := time.Now()
	if err := os.Rename(next, file); err != nil {
		return err
	}

	state, err := p.Wait()
	took := time.Since(began)
	if err != nil || !state.Success() {
		return fmt.Errorf("%s: %v, %v: %s", c.name, state, err, b.starter.said())
	}

	b.results.add(c.name, "s", round, took.Seconds())

	return nil
}

// idle makes c wait for a while for something that does not happen, and records its processor time,
// in ticks of 10 ms, and its wake-ups.
func (b *bench) idle(c contestant, file string, round int) error {
	p, err := b.waiting(c, file, filepath.Join(b.work, "wait-never"))
	if err != nil {
		return err
	}
	defer p.Wait()
	defer p.Kill()

	before, err := usageOf(p.Pid)
	if err != nil {
		return err
	}

	time.Sleep(b.plan.idle)
	after, err := usageOf(p.Pid)
	if err != nil {
		return err
	}

	b.results.add("wait/idle-ticks", "ticks", round, float64(after.ticks-before.ticks))
	b.results.add("wait/idle-switches", "switches", round, float64(after.switches-before.switches))

	return nil
}

// waiting starts c and returns once it waits for file, which is running, to become next, which does
// not exist yet.
func (b *bench) waiting(c contestant, file, next string) (*os.Process, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.writeWaited(file, next); err != nil {
		return nil, err
	}

	p, err := b.starter.start(c.argv)
	if err != nil {
		return nil, err
	}

	if err := untilIdle(p.Pid); err != nil {
		p.Kill()
		p.Wait()
		return nil, fmt.Errorf("%s: %w: %s", c.name, err, b.starter.said())
	}

	return p, nil
}

// writeWaited writes a running operation to file, and the same operation completed to next.
func (b *bench) writeWaited(file, next string) error {
	running, err := b.stack("op", 1, nil)
	if err != nil {
		return err
	}

	seen, err := b.here()
	if err != nil {
		return err
	}

	completed, err := running.Pop(protocol.Pop{Call: "call-0"}, seen)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, []byte(running.Encode()), 0o600),
		os.WriteFile(next, []byte(completed.Encode()), 0o600))
}

// untilIdle returns when a process has an inotify descriptor and all its threads sleep, three times
// in a row.
func untilIdle(pid int) error { return untilRest(pid, hasInotify) }

// untilRest is untilIdle for a process that is ready in another way.
func untilRest(pid int, ready func(pid int) bool) error {
	calm := 0
	if !poll.Within(patience, func() bool {
		calm++
		if !ready(pid) || !sleeps(pid) {
			calm = 0
		}
		return calm == 3
	}) {
		return errors.New("it does not come to rest")
	}

	return nil
}
