package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
)

// orphans reports processes of calls whose dpl-run was killed together with the keeper, which would
// have ended them.
func (p *checkup) orphans() (found []finding) {
	of := make(map[string]*file) // by the marks of processes
	calls := make(map[string]string)
	for i := range p.files {
		if op := p.files[i].Operation; op != nil {
			for mark, call := range session.Marks(*op, p.seen) {
				of[mark], calls[mark] = &p.files[i], call
			}
		}
	}
	if len(of) == 0 {
		return nil
	}

	left := make(map[string][]int)
	for _, pid := range process.Carriers(process.StartVariable, slices.Collect(maps.Keys(of))) {
		for _, mark := range process.Marks(pid) { // that of the innermost call comes first
			if of[mark] != nil {
				left[mark] = append(left[mark], pid)
				break
			}
		}
	}

	for _, mark := range slices.Sorted(maps.Keys(left)) {
		if len(process.Carriers(process.KeeperVariable, []string{mark})) > 0 {
			continue // the keeper is about to end them
		}

		var names, pids []string
		for _, pid := range left[mark] {
			names = append(names, fmt.Sprintf("%d (%s)", pid, process.Name(pid)))
			pids = append(pids, fmt.Sprint(pid))
		}
		f := of[mark]
		found = append(found, warning.about(f.name, fmt.Sprintf("call %s of %s: its dpl-run and the "+
			"keeper were killed, but processes are left: %s", calls[mark], f.Operation.ID,
			strings.Join(names, ", ")), fmt.Sprintf("the next dpl-run --op %s ends them, or kill %s",
			f.Operation.ID, strings.Join(pids, " "))))
	}
	return found
}
