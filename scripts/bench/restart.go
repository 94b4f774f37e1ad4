//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// timeRestart times restarts: from the SIGKILL of a service until its next process runs. With
// --on-exit pass no other process waits for that end than the keeper of the service. The peer is a
// loop of the shell, which stays and waits. Both services begin with the same line of a shell.
func (b *bench) timeRestart() error {
	ours, err := b.restarted("restart/dpl")
	if err != nil {
		return err
	}
	loop, err := b.restarted("restart/loop")
	if err != nil {
		return err
	}

	stop, err := b.startService(ours)
	if err != nil {
		return err
	}
	defer stop()
	shell, err := b.starter.start([]string{"/bin/sh", "-c",
		"while :; do sh -c '" + loop.command() + "'; done"})
	if err != nil {
		return err
	}
	defer func() {
		shell.Kill()
		shell.Wait()
		syscall.Kill(loop.pid, syscall.SIGKILL)
	}()

	all := []*restarted{ours, loop}
	for _, r := range all {
		if err := r.began(); err != nil {
			return err
		}
	}
	for round := -b.plan.warmUp; round < b.plan.waits; round++ {
		for _, i := range b.random.Perm(len(all)) {
			took, err := all[i].strike()
			if err != nil {
				return err
			}
			if round >= 0 {
				b.results.add(all[i].name, "s", round, took.Seconds())
			}
		}

		took, err := b.starter.time([]string{b.tools.null})
		if err != nil {
			return err
		}
		if round >= 0 {
			b.results.add("restart/null", "s", round, took.Seconds())
		}
	}

	b.printTimes("a restart with --on-exit pass, from the death of the service", "restart/null",
		"restart/")
	return nil
}

// startService starts the service r in a group whose keepers make passes, and returns what stops
// it.
func (b *bench) startService(r *restarted) (stop func(), err error) {
	group := []string{"--ledger", filepath.Join(b.work, "restart"), "--group", "g"}
	dpl := func(name string, args ...string) error {
		_, err := b.prepare(slices.Concat([]string{b.command(name)}, group, args)...)
		return err
	}

	err = dpl("dpl-register", "--request", "--no-pass", "--service", "s", "--backoff", "0",
		"--max-attempts", "-1", "--", "/bin/sh", "-c", r.command())
	if err == nil {
		err = dpl("dpl-orchestrate", "--on-exit", "pass")
	}
	return func() { _ = dpl("dpl-shutdown", "--all", "--wait") }, err
}

// A restarted is a service that is started again when it has ended.
type restarted struct {
	name string
	fifo string // each of its processes writes its pid there
	pid  int    // of its present process
}

// restarted returns a service that does not run yet.
func (b *bench) restarted(name string) (*restarted, error) {
	r := &restarted{name: name, fifo: filepath.Join(b.work, strings.ReplaceAll(name, "/", "-"))}
	return r, syscall.Mkfifo(r.fifo, 0o600)
}

func (r *restarted) command() string {
	return fmt.Sprintf("echo $$ >%s; exec sleep 1000", r.fifo)
}

// began waits until a new process of r runs.
func (r *restarted) began() error {
	text, err := os.ReadFile(r.fifo)
	if err != nil {
		return err
	}
	_, err = fmt.Sscan(string(text), &r.pid)
	return err
}

// strike kills the process of r, and returns how long it takes until the next one runs.
func (r *restarted) strike() (time.Duration, error) {
	began := time.Now()
	if err := syscall.Kill(r.pid, syscall.SIGKILL); err != nil {
		return 0, fmt.Errorf("%s: process %d: %w", r.name, r.pid, err)
	}
	err := r.began()
	return time.Since(began), err
}
