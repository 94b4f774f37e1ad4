package doctor

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// services reports services that were given up, ends that no pass has noticed, and exit records
// that cannot be true.
func (p *checkup) services() (found []finding) {
	for _, f := range p.files {
		if f.Kind != layout.SupervisorsFile {
			continue
		}
		observer := func() observe.Observation { return p.seen }
		g, seen, err := p.survey.Ledger.WitnessGroup(f.ID, observer)
		if err != nil {
			continue // it was removed in the meantime, or another check has said why
		}
		for i := range g.Registry.Services {
			found = append(found, p.service(g, &g.Registry.Services[i], seen)...)
		}
	}
	return found
}

// service checks one service of g.
func (p *checkup) service(g group.Group, s *group.Service, seen observe.Observation) (found []finding) {
	shown := model.Group{Group: g, Seen: seen}
	if t, _ := explain.ServiceTrouble(shown, shown.Judged(s)); s.Maintenance.On(seen.Now) {
		return append(found, note.tells(g.ID, t)) // passes leave it alone
	} else if s.State == group.StateDead {
		return append(found, problem.tells(g.ID, t))
	}

	object := fmt.Sprintf("service %s of %s", s.ID, g.ID)
	if pid := seen.Kept(g.ID, s.ID, s.StartID); pid != 0 {
		return append(found, problem.about(object, fmt.Sprintf("process %d of another start lives, which "+
			"the group's file does not know: it was set back", pid),
			fmt.Sprintf("kill %d ends that, and a later pass starts the service", pid)))
	}
	if pid := g.Outlives(s, seen); pid != 0 {
		found = append(found, problem.about(object, fmt.Sprintf("it is stopped, and process %d of it "+
			"lives", pid), fmt.Sprintf("kill %d", pid)))
	}
	if ended := g.Unnoticed(s, seen); ended > 0 {
		found = append(found, problem.about(object, "it has ended, and no pass has noticed for "+
			span(ended), "start its timer, or cron, or dpl-orchestrate --every 2s"))
	}

	x, there, _ := p.survey.Ledger.ReadExit(g.ID, s.ID, s.StartID)
	if there && s.Denies(x, seen) {
		found = append(found, warning.about(object, fmt.Sprintf("its exit record says that process %d "+
			"has ended, which lives: this machine was set back", s.PID),
			"rm "+p.survey.Ledger.ExitPath(g.ID, s.ID, s.StartID)))
	}
	return found
}
