package status

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	processes "github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// whyService prints why a service is in its state, and what passes do about it.
func (s *reporter) whyService(groupID, service string) error {
	p, err := s.look(subject{group: groupID, service: service})
	if err != nil {
		return err
	}

	g := p.groups[0]
	entry := g.Service(service)
	if entry == nil {
		return cli.Named("status", groupID, service, group.ErrNoService)
	}
	facts := explain.Service(g.Group, entry, g.Seen)
	exits := func(service, startID string) (group.ExitRecord, bool) {
		x, found, err := s.ledger.ReadExit(groupID, service, startID)
		if err != nil {
			s.env.Warnf("%v", cli.Named("exit record", groupID, service, err))
		}
		return x, found
	}
	next, err := plan.Foresee(g.Group, service, exits, s.ledger.LookAtChild, g.Seen)
	switch {
	case errors.Is(err, group.ErrTwoMachines):
		facts = append(facts, "Passes on this machine do nothing: another one has its host id.")
	case err != nil:
		return cli.Named("status", groupID, service, err)
	}

	if s := entry; !s.TermSentAt.IsZero() &&
		errors.Is(processes.SignalProcess(s.Identity(), 0), syscall.EPERM) {
		facts = append(facts, fmt.Sprintf("You may not signal its process, %d, which runs "+
			"as another user. If passes are made by you, they cannot stop it either: make one as "+
			"that user or as root, or kill it.", s.PID))
	}

	o := cli.Object{{"groupId", groupID}, {"supervisorId", service}, {"state", entry.State},
		{"now", explain.Steps(next.Now)}, {"at", stampOrNull(next.At)},
		{"then", explain.Steps(next.Then)}}
	return s.answer(o, fmt.Sprintf("%s: service %s %s.", groupID, service,
		explain.Is(string(entry.State))), facts,
		append(ahead(g, next), explain.Cures(explain.ServiceCures(g, g.Judged(entry)))...))
}

// ahead says what happens next, and whether there is anybody to do it.
func ahead(g model.Group, next plan.Forecast) (lines []string) {
	lines = append(lines, "A pass now: "+would(next.Now))
	if !next.At.IsZero() {
		lines = append(lines, fmt.Sprintf("A pass from %s on, in %v: %s",
			next.At.UTC().Format(time.RFC3339), next.At.Sub(g.Seen.Now).Round(time.Millisecond),
			would(next.Then)))
	}

	if last := explain.LastPass(g); g.Orchestrated() != "running" {
		if last == "" {
			last = "never"
		}
		lines = append(lines, fmt.Sprintf("No pass is expected: the last one was made %s. Run "+
			"dpl-orchestrate --group %s.", last, g.ID))
	}

	return lines
}

func would(steps []plan.Step) string {
	if len(steps) == 0 {
		return "nothing changes."
	}
	return strings.Join(explain.Steps(steps), "; ") + "."
}
