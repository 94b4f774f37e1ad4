//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// staleness is the threshold of all operations and groups. Nothing goes stale during a measurement.
const staleness = 24 * time.Hour

// here returns what a command would observe now. The identity of the host is the one that a real
// dpl-push has written.
func (b *bench) here() (observe.Observation, error) {
	if b.host == nil {
		ledger := filepath.Join(b.work, "identity")
		_, err := b.prepare(b.command("dpl-push"), "--ledger", ledger, "--op", "op",
			"--participant", "worker",
			"--pid", strconv.Itoa(os.Getpid()))
		if err != nil {
			return observe.Observation{}, err
		}

		op, err := readOperation(operationFile(ledger, "op"))
		if err != nil {
			return observe.Observation{}, err
		}

		p := op.Stack[0].Process
		b.host = &observe.Host{ID: p.HostID, BootID: p.BootID, PIDNamespace: p.PIDNamespace}
	}

	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return observe.Observation{}, err
	}

	return observe.Observation{Now: time.Now(), Host: *b.host, MonotonicMs: ts.Nano() / 1e6}, nil
}

// identities returns the processes of n participants. Above those of the plan they are used again.
func (b *bench) identities(n int) ([]observe.Process, error) {
	seen, err := b.here()
	if err != nil {
		return nil, err
	}

	processes, err := b.live(n)
	if err != nil {
		return nil, err
	}
	return known(seen.Host, processes)
}

// stack returns an operation of n calls, each of a different participant. Its file is as dpl-push
// makes it, with --pid if there are processes.
func (b *bench) stack(id string, n int, processes []observe.Process) (protocol.Operation, error) {
	op := protocol.Create(id, "", 0, staleness)
	for i := range n {
		seen, err := b.here()
		if err != nil {
			return op, err
		}

		p := protocol.Push{Participant: fmt.Sprint("worker-", i), Call: fmt.Sprint("call-", i),
			PID: os.Getpid()}
		if len(processes) > 0 {
			p.Process = processes[i%len(processes)]
			p.PID = p.Process.PID
		}

		if op, err = op.Push(p, seen); err != nil {
			return op, err
		}
	}

	return op, nil
}

// newLedger makes a ledger with a first operation, by dpl-push, and returns its path.
func (b *bench) newLedger(name, op string) (string, error) {
	ledger := filepath.Join(b.work, name)
	_, err := b.prepare(b.command("dpl-push"), "--ledger", ledger, "--op", op, "--participant",
		"worker",
		"--staleness", staleness.String(), "--sync", "none")
	return ledger, err
}

// newStack creates a ledger with one operation of n calls, "op", all of them with --pid if withPID,
// and returns its path.
func (b *bench) newStack(name string, n int, withPID bool) (string, error) {
	ledger, err := b.newLedger(name, "op")
	if err != nil {
		return "", err
	}

	text, err := b.stackText(n, withPID)
	if err != nil {
		return "", err
	}
	return ledger, os.WriteFile(operationFile(ledger, "op"), text, 0o600)
}

// stackText returns the file of the operation "op" of n calls. It is cached, because many pushes
// take a while.
func (b *bench) stackText(n int, withPID bool) (text []byte, err error) {
	key := fmt.Sprint(n, withPID)
	if text := b.texts[key]; text != nil {
		return text, nil
	}

	var processes []observe.Process
	if withPID {
		if processes, err = b.identities(n); err != nil {
			return nil, err
		}
	}

	op, err := b.stack("op", n, processes)
	if err != nil {
		return nil, err
	}

	b.texts[key] = []byte(op.Encode())

	return b.texts[key], nil
}

func operationFile(ledger, op string) string {
	return filepath.Join(ledger, "operations", op+".json")
}

func readOperation(file string) (protocol.Operation, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return protocol.Operation{}, err
	}
	return protocol.Decode(string(text))
}
