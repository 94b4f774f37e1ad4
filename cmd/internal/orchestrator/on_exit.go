package orchestrator

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// onExit returns the command with which the keeper of a start makes a pass like this one (spec
// §19.5), or nil if the group g does not want that.
func (o *Orchestrator) onExit(g group.Group, service, startID string) *start.Command {
	if g.Registry.Supervision.OnExit != group.PassOnExit {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		o.Env.Warnf("%s: %q: no pass at its end: %v", o.Group, service, err)
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}

	argv := append(orchestrate(self), "--ledger="+o.Ledger.Dir(), "--group="+o.Group,
		"--owner="+o.Owner)
	argv = append(argv, o.Env.Again()...)
	if o.Failover {
		argv = append(argv, "--failover")
	}
	if o.Spawn != "" {
		argv = append(argv, "--spawn="+string(o.Spawn))
	}
	if o.OnAlert != "" {
		argv = append(argv, "--on-alert="+o.OnAlert)
	}

	return &start.Command{
		Argv: append(argv, "--after-exit="+service+"~"+startID),
		Dir:  dir, Env: slices.DeleteFunc(os.Environ(), namesStart),
	}
}

// orchestrate returns the first arguments of dpl-orchestrate, given the path of this program. That
// is dpl, or a copy of it under the name of another command, with one of dpl-orchestrate beside it.
func orchestrate(self string) []string {
	if strings.TrimSuffix(filepath.Base(self), ".exe") == "dpl" {
		return []string{self, "orchestrate"}
	}
	return []string{filepath.Join(filepath.Dir(self), "dpl-orchestrate")}
}

// namesStart reports whether a variable would make a process part of a service.
func namesStart(entry string) bool { return strings.HasPrefix(entry, process.StartVariable+"=") }

// prompted makes the pass that o.Prompt asks for, and others until one changes nothing. If what the
// parent of the group sees of it has changed, it does the same for the parent. A pass over the
// parent that fails is left to the next pass. It returns what the last pass over the group has
// done.
func (o *Orchestrator) prompted(visited map[string]bool) (PassReport, error) {
	first, p, err := o.passesUntilQuiet(visited)
	if err != nil || first.StandBy {
		return p, err
	}
	after := p.After.AsChild(p.Seen)
	if after.Parent.Group == "" || after == first.Before.AsChild(first.Seen) {
		return p, nil
	}

	o.parent = o.beside(after.Parent.Group)
	o.parent.Prompt = &group.Prompt{}
	_, err = o.parent.prompted(map[string]bool{o.Group: true})
	if err != nil && !errors.Is(err, fileops.ErrNoGroup) {
		o.Env.Warnf("%s: group %q: %v", o.Group, o.parent.Group, err)
	}
	return p, nil
}

// passesUntilQuiet makes passes until one does not change the registry, but not more than one for
// each service and one more: no chain of dependencies is longer. It returns what the first and the
// last have done.
func (o *Orchestrator) passesUntilQuiet(visited map[string]bool) (first, p PassReport, err error) {
	for n := 0; ; n++ {
		if p, err = o.pass(maps.Clone(visited)); n == 0 {
			first = p
		}
		if err != nil || p.StandBy || p.After.Registry.Revision == p.Before.Registry.Revision ||
			n == len(p.After.Registry.Services) {
			return first, p, err
		}
		o.Prompt = &group.Prompt{} // the end has been seen
	}
}
