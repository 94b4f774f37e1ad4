//go:build linux

package main

import (
	"fmt"
	"os"
)

// Names of the works of the section edits.
const (
	heartbeat = "heartbeat"
	push      = "push"
	pop       = "pop"
)

// timeEdits times heartbeats, pushes and pops at all stack sizes.
func (b *bench) timeEdits() error {
	if err := b.raceEdits("edits/null", b.plan.frames, b.plan.rounds); err != nil {
		return err
	}
	if err := b.raceEdits("big/null", []int{b.plan.big}, b.plan.bigRounds); err != nil {
		return err
	}

	for _, size := range b.plan.frames {
		b.plotted = append(b.plotted, plotted{size, "edits/null"})
	}

	b.plotted = append(b.plotted, plotted{b.plan.big, "big/null"})
	return nil
}

// raceEdits runs all edits of some stack sizes in the same rounds, and prints a table for each work
// and size.
func (b *bench) raceEdits(null string, sizes []int, rounds int) error {
	turns := []turn{alone(null, []string{b.tools.null})}
	bytes := make(map[int]string)
	for _, size := range sizes {
		ours, about, err := b.ourEdits(size)
		if err != nil {
			return err
		}

		peers, err := b.peerEdits(size)
		if err != nil {
			return err
		}

		bytes[size] = about
		turns = append(append(turns, ours...), peers...)
	}

	if err := b.race(turns, rounds); err != nil {
		return err
	}

	for _, size := range sizes {
		for _, work := range []string{heartbeat, push, pop} {
			title := fmt.Sprintf("%s, %d frames", work, size)
			if work == heartbeat {
				title += " (" + bytes[size] + ")"
			}
			b.printTimes(title, null, fmt.Sprintf("%s/%d/", work, size))
		}
	}

	return nil
}

// ourEdits returns the turns of our commands, and the sizes of their files. Pushes and pops have an
// operation of their own.
func (b *bench) ourEdits(size int) (turns []turn, about string, err error) {
	var files []string
	newStack := func(kind string, withPID bool) (ledger string) {
		if err == nil {
			ledger, err = b.newStack(fmt.Sprint("ledger-", kind, "-", size), size, withPID)
			files = append(files, operationFile(ledger, "op"))
		}
		return ledger
	}

	plain, pid, pairs := newStack("plain", false), newStack("pid", true), newStack("pairs", false)
	if err != nil {
		return nil, "", err
	}
	if about, err = fileSizes(files[:2]); err != nil {
		return nil, "", err
	}

	beat := func(ledger string) []string {
		return []string{b.command("dpl-heartbeat"), "--ledger", ledger, "--op", "op", "--call",
			"call-1"}
	}

	edit := func(command string, more ...string) []string {
		return append([]string{b.command(command), "--ledger", pairs, "--op", "op", "--call",
			"new"}, more...)
	}

	if size == b.plan.frames[0] { // where the time of one edit goes
		turns = []turn{
			alone(named(heartbeat, size, "version"),
				[]string{b.command("dpl-heartbeat"), "--version"}),
			alone(named(heartbeat, size, "dry-run"), append(beat(plain), "--dry-run")),
			alone(named(heartbeat, size, "no-sync"), append(beat(plain), "--sync", "none")),
			alone(named(heartbeat, size, "kong"), append(beat(plain), "-v")), // no plain argument
		}
	}

	foreign, err := b.foreignBeats(size, beat)
	if err != nil {
		return nil, "", err
	}

	turns = append(turns, foreign...)

	return append(turns, []turn{
		alone(named(heartbeat, size, "dpl"), beat(plain)),
		alone(named(heartbeat, size, "dpl-pid"), beat(pid)),
		{contestants: []contestant{
			{name: named(push, size, "dpl"), argv: edit("dpl-push", "--participant", "worker-new")},
			{name: named(pop, size, "dpl"), argv: edit("dpl-pop")},
		}},
	}...), about, nil
}

// pythonDump writes the operation in a file as Python's json does, with the seed's null.
const pythonDump = `import json, sys
with open(sys.argv[1]) as f:
    op = json.load(f)
for frame in op['stack']:
    frame['supervisorId'] = None
json.dump(op, sys.stdout, indent=int(sys.argv[2]) if len(sys.argv) > 2 else None)
`

// foreignBeats returns the turns of heartbeats in files that Python has written, which each of them
// leaves as our commands write them.
func (b *bench) foreignBeats(size int,
	beat func(ledger string) []string) (turns []turn, err error) {
	if b.tools.python == "" {
		return nil, nil
	}

	for who, indent := range map[string][]string{"dpl-dump": nil, "dpl-dump-indent": {"2"}} {
		ledger, err := b.newStack(fmt.Sprint("ledger-", who, "-", size), size, false)
		if err != nil {
			return nil, err
		}

		file := operationFile(ledger, "op")
		text, err := b.prepare(append([]string{b.tools.python, "-I", "-S", "-c", pythonDump, file},
			indent...)...)
		if err != nil {
			return nil, err
		}

		turns = append(turns, turn{contestants: []contestant{{
			name:  named(heartbeat, size, who),
			argv:  beat(ledger),
			ready: func() error { return os.WriteFile(file, []byte(text), 0o600) },
		}}})
	}

	return turns, nil
}

// named returns the name of the series of who does work at a size.
func named(work string, size int, who string) string {
	return fmt.Sprintf("%s/%d/%s", work, size,
		who)
}

func fileSizes(files []string) (string, error) {
	var sizes []any
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		sizes = append(sizes, info.Size())
	}

	return fmt.Sprintf("%d bytes, with --pid %d", sizes...), nil
}
