//go:build linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// In a tree, a pass writes the files of two groups, and may be killed between any two of them. The
// group g, with the service a, is the service pool of the group outer.

// treeFamilies returns the commands that pass over a tree.
func treeFamilies() []family {
	// Each start of a leaves a line.
	setup := []step{words(0, "dpl-register --group g --request --no-pass --service a --backoff 0 --",
		"sh", "-c", "echo start >>$res/starts; exec sleep 300"),
		at(0, "dpl-register --group outer --no-pass --service pool --child-group g --backoff 0")}
	begin := at(1, "dpl-orchestrate --group outer --owner one")
	strict := at(1, "dpl-orchestrate --group g --owner one --intensity 1/1m --on-intensity escalate")
	over := at(2, "dpl-shutdown --group outer --all")

	ready := tree{pass: at(3, "dpl-orchestrate --group outer --owner one"), pool: group.StateRunning,
		generation: 1, owner: "one", starts: 1}
	anew, taken, ended := ready, ready, ready
	anew.generation, anew.starts = 2, 3
	taken.pass, taken.owner = at(102, "dpl-orchestrate --group outer --owner two"), "two"
	ended.pool, ended.end = group.StateStopped, policy.EndRequested

	return []family{
		{name: "orchestrate begins a tree", setup: setup, do: begin, services: true,
			final: ready.settles},
		{name: "orchestrate begins a tree anew", setup: setup, each: []step{begin, strict, strikeA,
			begin, strikeA}, do: at(2, begin.String()), services: true, final: anew.settles},
		{name: "orchestrate ends a tree", setup: setup, each: []step{begin, over},
			do: at(3, begin.String()), services: true, final: ended.settles},
		{name: "orchestrate takes over a tree", setup: setup, each: []step{begin},
			do: at(101, taken.pass.String()), services: true, final: taken.settles},
	}
}

// A tree is the state that passes must come to, whichever of them were killed.
type tree struct {
	pass       step // a further one
	pool       group.ServiceState
	generation int64 // of pool, in both files
	owner      string
	end        policy.EndReason // of g; "": it runs
	starts     int              // of a, since the world was made
}

// settles makes passes until the tree is as it must be, and stops it.
func (tr tree) settles(w *world) (why string) {
	pass := tr.pass
	poll.Within(poll.Patience, func() bool {
		w.run(pass)
		pass.at = min(pass.at+time.Second, tr.pass.at+8*time.Second) // a lost TERM delays a KILL
		why = tr.missing(w)
		return why == ""
	})
	if why != "" {
		return why
	}

	stop := at(0, "dpl-shutdown --group outer --all --wait --timeout 30s")
	stop.at = pass.at + time.Minute // the owner of the tree is silent by then
	if got := w.run(stop); got.status != 0 {
		return got.stderr
	}
	if left := w.working(); len(left) > 0 {
		return fmt.Sprintf("all is stopped, it says, and processes %v run", left)
	}
	return tr.tooMany(w)
}

// missing says what is not as it must be yet.
func (tr tree) missing(w *world) string {
	outer, err := w.registry("outer")
	inner, err2 := w.registry("g")
	if err := errors.Join(err, err2); err != nil {
		return err.Error()
	}

	pool, v := outer.Services[0], inner.Supervision
	switch want := (group.Parent{Group: "outer", Service: "pool", Generation: tr.generation}); {
	case pool.State != tr.pool || pool.Generation != tr.generation || v.Parent != want:
		return fmt.Sprintf("pool is %s in generation %d, and g shows %v, generation %d", pool.State,
			pool.Generation, v.Parent, v.Parent.Generation)
	case v.End.Reason != tr.end || (v.End.State == group.GroupEnded) != (tr.end != ""):
		return fmt.Sprintf("g is %s: %v", v.End.State, v.End)
	case pool.RestartAttempts != int(tr.generation-1):
		return fmt.Sprintf("%d attempts of pool are counted", pool.RestartAttempts)
	case outer.Owner != tr.owner || inner.Owner != tr.owner:
		return fmt.Sprintf("outer belongs to %s, and g to %s", outer.Owner, inner.Owner)
	case tr.end == "":
		return oneRuns(w)
	}
	return noneRuns(w)
}

// tooMany says whether a was started more often than it must, or less.
func (tr tree) tooMany(w *world) string {
	lines, _ := os.ReadFile(filepath.Join(w.base, "res", "starts"))
	if n := bytes.Count(lines, []byte("\n")); n != tr.starts {
		return fmt.Sprintf("a was started %d times, want %d", n, tr.starts)
	}
	return ""
}

// registry reads the registry of a group.
func (w *world) registry(id string) (group.Registry, error) {
	text, err := os.ReadFile(w.file(id + ".supervisors.json"))
	if err != nil {
		return group.Registry{}, err
	}
	return group.DecodeRegistry(string(text))
}
