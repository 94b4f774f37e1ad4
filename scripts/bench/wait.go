//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// patience is how long dpl-wait may take until it waits.
const patience = 10 * time.Second

// timeWait times dpl-wait from the rename that it waits for to its exit, and looks at what it takes meanwhile.
func (b *bench) timeWait() error {
	ledger, err := b.newLedger("wait", "op")
	if err != nil {
		return err
	}
	for round := range b.plan.waits {
		idle := time.Duration(0)
		if round < b.plan.idles {
			idle = b.plan.idle
		}
		if err := b.waitOnce(ledger, round, idle); err != nil {
			return err
		}
	}
	b.printWaits()
	return nil
}

// waitOnce lets one dpl-wait wait, for idle at least, and ends its wait.
func (b *bench) waitOnce(ledger string, round int, idle time.Duration) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	file, next := operationFile(ledger, "op"), filepath.Join(b.work, "wait-next")
	if err := b.writeWaited(file, next); err != nil {
		return err
	}
	p, err := b.starter.start([]string{b.command("dpl-wait"), "--ledger", ledger, "--op", "op", "--for", "completed"})
	if err != nil {
		return err
	}
	defer p.Kill()
	if err := untilIdle(p.Pid); err != nil {
		return fmt.Errorf("%w: %s", err, b.starter.said())
	}
	if idle > 0 {
		if err := b.noteIdle(p.Pid, round, idle); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := os.Rename(next, file); err != nil {
		return err
	}
	state, err := p.Wait()
	took := time.Since(began)
	if err != nil || !state.Success() {
		return fmt.Errorf("dpl-wait: %v, %v: %s", state, err, b.starter.said())
	}
	b.results.add("wait/rename-to-exit", "ms", round, float64(took)/1e6)
	return nil
}

// writeWaited writes a running operation to file, and what it is when it has been completed to next.
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
	return errors.Join(os.WriteFile(file, []byte(running.Encode()), 0o600), os.WriteFile(next, []byte(completed.Encode()), 0o600))
}

// noteIdle notes how much processor time a process takes in a while, in ticks of 10 ms, and how often it wakes.
func (b *bench) noteIdle(pid, round int, idle time.Duration) error {
	before, err := usageOf(pid)
	if err != nil {
		return err
	}
	time.Sleep(idle)
	after, err := usageOf(pid)
	if err != nil {
		return err
	}
	b.results.add("wait/idle-ticks", "ticks", round, float64(after.ticks-before.ticks))
	b.results.add("wait/idle-switches", "switches", round, float64(after.switches-before.switches))
	return nil
}

// untilIdle returns when a process has an inotify descriptor and all its threads sleep, twice in a row.
func untilIdle(pid int) error {
	for deadline, calm := time.Now().Add(patience), 0; calm < 2; {
		if time.Now().After(deadline) {
			return fmt.Errorf("dpl-wait does not come to rest")
		}
		time.Sleep(2 * time.Millisecond)
		if hasInotify(pid) && sleeps(pid) {
			calm++
		} else {
			calm = 0
		}
	}
	return nil
}
