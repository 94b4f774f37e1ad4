package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	processes "github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol/group"
)

// whyService prints why a service is in its state, and what passes do about it.
func (s *reporter) whyService(groupID, service string) error {
	p, err := s.look(subject{group: groupID, service: service})
	if err != nil {
		return err
	}

	g := p.groups[0]
	why, err := g.Why(service, func(service, startID string) (group.ExitRecord, bool) {
		x, found, err := s.ledger.ReadExit(groupID, service, startID)
		if err != nil {
			s.env.Warnf("%v", cli.Named("exit record", groupID, service, err))
		}
		return x, found
	}, s.ledger.LookAtChild, g.Seen)
	if err != nil {
		return cli.Named("status", groupID, service, err)
	}

	if s := g.Service(service); !s.TermSentAt.IsZero() &&
		errors.Is(processes.SignalProcess(s.Identity(), 0), syscall.EPERM) {
		why.Facts = append(why.Facts, fmt.Sprintf("You may not signal its process, %d, which runs "+
			"as another user. If passes are made by you, they cannot stop it either: make one as "+
			"that user or as root, or kill it.", s.PID))
	}

	state := string(g.Service(service).State)
	if s.machine() {
		o := cli.Object{{"groupId", groupID}, {"supervisorId", service}, {"state", state},
			{"facts", append([]string{}, why.Facts...)}, {"now", append([]string{}, why.Now...)},
			{"at", nil}, {"then", append([]string{}, why.Then...)}}
		if !why.At.IsZero() {
			o[5][1] = view.Stamp(why.At)
		}
		return s.print(o, "")
	}

	fmt.Fprintf(s.env.Stdout, "%s: %s is %s.\n", groupID, service, state)
	for _, line := range append(why.Facts, ahead(g, why)...) {
		fmt.Fprintln(s.env.Stdout, harmless.Text(line))
	}

	return nil
}

// ahead says what happens next, and whether there is anybody to do it.
func ahead(g view.Group, why group.Explanation) (lines []string) {
	lines = append(lines, "A pass now: "+would(why.Now))
	if !why.At.IsZero() {
		lines = append(lines, fmt.Sprintf("A pass from %s on, in %v: %s",
			why.At.UTC().Format(time.RFC3339), why.At.Sub(g.Seen.Now).Round(time.Millisecond),
			would(why.Then)))
	}

	if last := g.LastPass(); g.Orchestrated() != "running" {
		if last == "" {
			last = "never"
		}
		lines = append(lines, fmt.Sprintf("No pass is expected: the last one was made %s. Run "+
			"dpl-orchestrate --group %s.", last, g.ID))
	}

	return lines
}

func would(steps []string) string {
	if len(steps) == 0 {
		return "nothing changes."
	}
	return strings.Join(steps, "; ") + "."
}
