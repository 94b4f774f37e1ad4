package doctor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// numbers reports thresholds that leave no time for a late heartbeat.
func (p *checkup) numbers() (found []finding) {
	for _, f := range p.files {
		switch {
		case f.Kind == layout.OperationFile && !f.Operation.State.Terminal():
			op := f.Operation
			found = append(found, checkMargin(f.name, op.HeartbeatInterval, op.StalenessThreshold,
				"push the next with --staleness")...)
		case f.Orchestrator != nil:
			o := f.Orchestrator
			found = append(found, checkMargin(f.name, o.HeartbeatInterval, o.StalenessThreshold,
				"dpl-orchestrate --staleness")...)
		}
	}

	return found
}

// checkMargin reports a threshold that one late heartbeat exceeds.
func checkMargin(object string, interval, threshold time.Duration, cure string) []finding {
	if interval.Milliseconds()*5 < threshold.Milliseconds()*2 {
		return nil
	}

	enough := min(interval, longest)*5/2 + time.Second
	text := fmt.Sprintf("a heartbeat every %v with a threshold of %v: a single late one is a crash",
		interval, threshold)
	return []finding{warning.about(object, text, fmt.Sprintf("%s %v or more", cure, enough))}
}

// longest is longer than anything takes. A file may have a longer time, which must not be
// multiplied.
const longest = 20 * 365 * 24 * time.Hour

// unseen is how long something may wait for a pass before the doctor reports it.
const unseen = 5 * time.Minute

// passes reports what waits for a pass, and groups with too few passes.
func (p *checkup) passes() (found []finding) {
	for _, f := range p.files {
		switch f.Kind {
		case layout.OperationFile:
			found = append(found, p.waiting(f)...)
		case layout.OrchestratorFile:
			if g, err := p.survey.Ledger.ReadGroup(f.ID); err == nil {
				found = append(found, checkPasses(g, p.survey.Ledger.ObserveGroup(g, p.seen))...)
			}
		}
	}

	return found
}

// waiting reports what an operation has been waiting for for a long time.
func (p *checkup) waiting(f file) (found []finding) {
	op := *f.Operation
	for _, frame := range op.Lingering(p.seen.Now) {
		text := fmt.Sprintf("call %q of %s was asked to clean up and has not popped", frame.CallID,
			frame.ParticipantID)
		found = append(found, warning.about(f.name, text, "end it, or pop its call"))
	}

	for _, frame := range op.Stack {
		if frame.Crash != nil && len(frame.Crash.LeftResources) > 0 {
			left := frame.Crash.LeftResources[0]
			text := fmt.Sprintf("%s of call %q could not be deleted: %s", left.Path, frame.CallID,
				left.Error)
			found = append(found, warning.about(f.name, text, "delete it"))
		}
	}

	age := p.seen.Now.Sub(f.Info.ModTime)
	if age < unseen {
		return found
	}

	seen, _ := p.survey.Ledger.ObserveOperation(op, p.seen)
	if want := wants(op, seen); want != "" {
		found = append(found, warning.about(f.name, want+", and no pass has run for "+span(age),
			"run dpl-cleanup, from cron or a timer"))
	}

	return found
}

// wants says what passes would do to an operation, or "" for nothing. The first pass may do less if
// all participants are silent.
func wants(op protocol.Operation, seen observe.Observation) string {
	seen.Watch = observe.Awake
	after, err := op.Cleanup("dpl-doctor", seen)
	switch {
	case errors.Is(err, protocol.ErrExpired):
		return "it is over and must be archived"
	case err != nil || after.Revision == op.Revision:
		return ""
	case op.State.Terminal():
		return "it is over and must be archived"
	case after.State != op.State && len(after.Transitions) > 0:
		return fmt.Sprintf("it must become %s: %s", after.State,
			after.Transitions[len(after.Transitions)-1].Reason)
	}

	return "it has crashed calls to clean up after"
}

// checkPasses reports whether the passes over a group run often enough.
func checkPasses(g group.Group, seen observe.Observation) (found []finding) {
	object := layout.OrchestratorName(g.ID)
	if g.TwoMachines(seen) {
		found = append(found, problem.about(object, "another machine that runs has the host id of "+
			"this one, and makes passes: this one makes none", "give one of them another host name, "+
			"or machine id: rm /etc/machine-id; systemd-machine-id-setup"))
	}
	if period, want := g.PassesTooRare(g); want > 0 {
		text := fmt.Sprintf("passes run every %v, too rarely for a threshold of %v",
			period.Round(100*time.Millisecond), g.Orchestrator.StalenessThreshold)
		found = append(found, warning.about(object, text,
			fmt.Sprintf("dpl-orchestrate --staleness %v or more, or passes more often", want)))
	}

	heard, age := g.OrchestratorHeard(seen)
	if !heard && age > unseen && g.Orchestrator.State != group.OrchestratorStopped && wanted(g) {
		found = append(found, warning.about(object,
			"no pass has run for "+span(age)+", and there are services to keep running",
			"start its timer, or cron, or dpl-orchestrate --every 2s"))
	}

	return found
}

// wanted reports whether a group has services that passes must look after.
func wanted(g group.Group) bool {
	return slices.ContainsFunc(g.Registry.Services, func(s group.Service) bool {
		return !s.State.Final()
	})
}
