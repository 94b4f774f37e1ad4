package orchestrator

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = time.Second
	lastRound     = 10 * time.Second // after the first; none begins later
)

// A rounds has the services that earlier rounds have started, by group (spec §11.10). It is nil in the
// first round.
type rounds map[string][]string

// of returns what a pass over a group is told about the rounds before it.
func (r rounds) of(groupID string) []string {
	if r == nil {
		return nil
	}
	return append([]string{}, r[groupID]...)
}

// note notes what the round p has started, in its group and in those below.
func (r rounds) note(p PassReport) {
	id := p.After.ID
	for _, a := range p.Actions {
		switch a := a.(type) {
		case plan.Start:
			r[id] = append(r[id], a.ServiceID)
		case plan.Begin:
			r[id] = append(r[id], a.Parent.Service)
		}
	}
	for _, below := range p.Children {
		r.note(below)
	}
}

// continues reports whether another round is worth while after p, for its group or one below it.
func (r rounds) continues(p PassReport) bool {
	return !p.StandBy && plan.Continues(p.After, r[p.After.ID], p.Seen.Now) ||
		slices.ContainsFunc(p.Children, r.continues)
}

// Rounds makes a pass, and up to most passes in all while a service waits for another one that they
// have started or are stopping (spec §11.10). It reports them as one pass.
func (o *Orchestrator) Rounds(most int) (PassReport, error) {
	end := time.Now().Add(lastRound)
	all, err := o.Pass()
	if err != nil || all.StandBy || o.Env.DryRun() {
		return all, err
	}

	o.earlier = make(rounds)
	defer func() { o.earlier = nil }()
	o.earlier.note(all)
	for round, pause := 1, shortestPause; round < most && o.earlier.continues(all); round++ {
		if time.Now().Add(pause).After(end) {
			break
		}
		time.Sleep(pause)
		p, err := o.Pass()
		switch {
		case errors.Is(err, fileops.ErrBusy), err == nil && p.StandBy:
			return all, nil // another pass does the rest
		case err != nil:
			return all, err
		}
		if pause = min(2*pause, longestPause); p.acts() {
			pause = shortestPause
		}
		o.earlier.note(p)
		all.add(p)
	}
	return all, nil
}

// acts reports whether p has asked for anything, also in a group below.
func (p *PassReport) acts() bool {
	return len(p.Actions) > 0 || slices.ContainsFunc(p.Children, func(below PassReport) bool {
		return below.acts()
	})
}

// add adds a later round to p.
func (p *PassReport) add(later PassReport) {
	p.Seen, p.After, p.later = later.Seen, later.After, later.later
	p.Actions = append(p.Actions, later.Actions...)
	p.Alerts = append(p.Alerts, later.Alerts...)
	if p.Failed == nil {
		p.Failed = make(map[string]group.StartFailure)
	}
	maps.Copy(p.Failed, later.Failed)

	for _, below := range later.Children {
		i := slices.IndexFunc(p.Children, func(c PassReport) bool { return c.After.ID == below.After.ID })
		if i < 0 {
			p.Children = append(p.Children, below)
		} else {
			p.Children[i].add(below)
		}
	}
}
