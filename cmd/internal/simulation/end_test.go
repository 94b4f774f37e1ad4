package simulation

import (
	"maps"
	"slices"
	"strings"
)

// end ends a history: all processes end, and after a while only the archive is left.
func (w *world) end() {
	w.everybodyEnds()
	for _, d := range w.dying {
		d.p.dead = d.p.dead || d.p.stage
	}

	for _, h := range w.hosts {
		for _, p := range h.procs {
			if p.role == "" {
				p.dead = true
			}
		}
	}

	switch {
	case w.kind.groups:
		w.endGroups()
	case w.kind.queues:
		w.endQueues()
		w.endQuestions()
	default:
		if w.chance(2) {
			w.beginsAgain([]string{"op1", "op2"}[w.r.IntN(2)])
		}
		w.drain()
	}

	if w.wrong == nil {
		w.calmly(func(a *actor) { a.cleanup() })
		w.calmly(func(a *actor) { a.cleanup() })
		w.checkLeftovers()
		w.checkResources()
	}
}

// passes is how many passes after the last threshold an operation may take to be archived.
const passes = 12

// drain makes passes until all operations are in the archive.
func (w *world) drain() {
	for n := range 2 * passes {
		if w.wrong != nil {
			return
		}

		switch n {
		case 0, 1, 2, 3:
			w.now += threshold.Milliseconds() + skew + 1
		case passes: // those that are running and empty
			w.now += 3_700_000 + w.setBack
		}

		w.calmly(func(a *actor) { a.cleanup() })
		if !w.anyOperation() {
			w.checkArchive()
			return
		}
	}

	w.fail("not drained: %v", w.disk.Tree())
}

func (w *world) anyOperation() bool {
	found := false
	for _, name := range w.disk.Names(ledgerDir + "/operations") {
		if strings.HasSuffix(name, ".json") {
			found = true
		}
	}
	return found
}

// checkArchive looks for each operation that a command has reported.
func (w *world) checkArchive() {
	for _, id := range slices.Sorted(maps.Keys(w.operations)) {
		if w.operations[id].acked == nil {
			continue
		}

		w.calmly(func(a *actor) {
			a.command("status", false, func(c *command) error {
				op, archived, err := c.read(id)
				if err == nil && (!archived || !op.State.Terminal() || len(op.Stack) > 0 ||
					op.TerminalHeartbeats != 2) {
					w.fail("%s has ended as %+v, archived: %v", id, op, archived)
				}
				return err
			})
		})
	}
}

// checkLeftovers looks for what cleanup should have removed.
func (w *world) checkLeftovers() {
	if !w.disk.Exists(ledgerDir + "/ledger.json") {
		return // no command got to create the ledger
	}

	for _, name := range w.disk.Tree() {
		locked, isLock := strings.CutSuffix(name, ".lock")
		group := isLock && (w.disk.Exists(locked+".supervisors.json") ||
			w.disk.Exists(locked+".orchestrator.json"))
		switch {
		case isLock && !group && !w.disk.Exists(locked), strings.Contains(name, ".tmp~"),
			strings.HasPrefix(name, ledgerDir+"/tmp/"):
			w.fail("left behind: %s", name)
		case w.powerLost: // the journal is not fsynced
		case strings.Contains(name, ".dpl-trash-") &&
			!slices.Contains(w.told, trash.FindString(name)):
			w.fail("left behind: %s", name)
		}
	}
}

// checkResources looks for what should not have gone, and for what should.
func (w *world) checkResources() {
	for _, path := range []string{"/data/keep", "/home/user/precious"} {
		if !w.disk.Exists(path) {
			w.fail("%s is gone", path)
		}
	}

	for call, mayGo := range w.resources {
		if !mayGo && !w.disk.Exists("/data/"+call+"/deep/file") {
			w.fail("the resource of %s is gone, which has not crashed", call)
		}
	}
}
