//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpl-project/dpl/protocol/group"
)

// timeOrchestrate times passes over groups of healthy services, in which there is nothing to do but
// look.
func (b *bench) timeOrchestrate() error {
	turns := []turn{alone("orchestrate/null", []string{b.tools.null})}
	var registries []string
	for _, n := range b.plan.supervisors {
		ledger, err := b.newGroup(n)
		if err != nil {
			return err
		}
		registries = append(registries, filepath.Join(ledger, "g.supervisors.json"))
		turns = append(turns, alone(named("orchestrate", n, "dpl"),
			[]string{b.command("dpl-orchestrate"), "--ledger", ledger, "--group", "g"}))
	}

	if err := b.race(turns, b.plan.passRounds); err != nil {
		return err
	}

	for i, n := range b.plan.supervisors {
		if err := allRunning(registries[i], n); err != nil {
			return err
		}
		title := fmt.Sprintf("dpl-orchestrate, a pass over %d supervisors", n)
		b.printTimes(title, "orchestrate/null", fmt.Sprintf("orchestrate/%d/", n))
	}

	return nil
}

// newGroup creates a ledger with a group "g" of n services, which have registered themselves with
// --pid, and returns its path. dpl-register registers the first.
func (b *bench) newGroup(n int) (string, error) {
	ledger := filepath.Join(b.work, fmt.Sprint("group-", n))
	processes, err := b.identities(n)
	if err != nil {
		return "", err
	}

	_, err = b.prepare(b.command("dpl-register"), "--ledger", ledger, "--group", "g",
		"--supervisor", "s-0", "--no-pass",
		"--pid", strconv.Itoa(processes[0].PID))
	if err != nil {
		return "", err
	}

	g := group.Create("g")
	g.Orchestrator.StalenessThreshold = staleness
	for i := range n {
		seen, err := b.here()
		if err != nil {
			return "", err
		}
		p := processes[i%len(processes)]
		if g, err = g.Register(group.Registration{Service: fmt.Sprint("s-", i), PID: p.PID,
			Process: p}, seen); err != nil {
			return "", err
		}
	}

	err = os.WriteFile(filepath.Join(ledger, "g.supervisors.json"), []byte(g.Registry.Encode()),
		0o600)

	return ledger, errors.Join(err, os.WriteFile(filepath.Join(ledger, "g.orchestrator.json"),
		[]byte(g.Orchestrator.Encode()), 0o600))
}

// allRunning fails unless n services run and none was restarted. Otherwise something else than a
// quiet pass was timed.
func allRunning(file string, n int) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}

	registry, err := group.DecodeRegistry(string(text))
	if err != nil {
		return err
	}

	running := 0
	for _, s := range registry.Services {
		if s.State == group.StateRunning && s.RestartAttempts == 0 {
			running++
		}
	}

	if running != n {
		return fmt.Errorf("%s: %d of %d supervisors run", file, running, n)
	}

	return nil
}
