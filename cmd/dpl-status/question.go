package main

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// check is the predicate "the operation id is in state".
func (s *shower) check(id, state string) error {
	if err := knownState(operationStates, "an operation", state); err != nil {
		return err
	}
	op, _, err := s.read(id)
	if err != nil {
		return err
	}
	holds := string(op.State) == state || state == "terminal" && op.State.Terminal()
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{Name: "operationId", Value: op.ID}, {Name: "state", Value: string(op.State)}, {Name: "revision", Value: op.Revision}, {Name: "holds", Value: holds},
		})
	}
	if !holds {
		return cli.Exit(cli.StatusFalse)
	}
	return nil
}

// why tells all that the judgement of a call rests on.
func (s *shower) why(id, call string) error {
	op, archived, err := s.read(id)
	if err != nil {
		return err
	}
	f := op.Frame(call)
	if f == nil {
		if archived {
			err = fmt.Errorf("%w: it is archived: its events tell what became of the call", protocol.ErrNoCall)
		} else {
			err = protocol.ErrNoCall
		}
		return cli.Named("status", id, call, err)
	}
	seen := s.seen(op)
	facts := s.facts(op, f, seen)
	if s.env.JSON() {
		s.env.PrintJSON(facts)
		return nil
	}
	for _, fact := range facts {
		fmt.Fprintf(s.env.Stdout, "%-22s %s\n", fact.Name, text(fact.Value))
	}
	return nil
}

func (s *shower) facts(op protocol.Operation, f *protocol.Frame, seen protocol.Observation) cli.Object {
	evidence, age := op.Judge(f, seen)
	facts := cli.Object{
		{Name: "operationId", Value: op.ID}, {Name: "callId", Value: f.CallID}, {Name: "participantId", Value: f.ParticipantID},
		{Name: "state", Value: string(f.State)}, {Name: "verdict", Value: verdict(f.State.Live(), evidence, f.Crash)},
		{Name: "ageMs", Value: age.Milliseconds()}, {Name: "stalenessThresholdMs", Value: op.StalenessThreshold.Milliseconds()},
		{Name: "lastHeartbeat", Value: stamp(f.LastHeartbeat)}, {Name: "now", Value: stamp(seen.Now)},
		{Name: "monotonicClock", Value: seen.Monotonic(f.LastHeartbeat, f.Beat)},
		{Name: "pid", Value: f.PID}, {Name: "identityKnown", Value: f.Process.Known() && f.Process.PID == f.PID},
	}
	if said := f.Said(); said.String() != "" {
		facts = append(facts, cli.Object{{Name: "readiness", Value: string(said.Readiness)}, {Name: "note", Value: said.Note}}...)
	}
	if c := f.Crash; c != nil {
		facts = append(facts, cli.Object{
			{Name: "crashedAt", Value: stamp(c.At)}, {Name: "detectedBy", Value: c.DetectedBy}, {Name: "evidence", Value: string(c.Evidence)},
			{Name: "staleForMs", Value: c.StaleFor.Milliseconds()}, {Name: "previousState", Value: string(c.PreviousState)},
		}...)
		if !c.ReportedAt.IsZero() {
			facts = append(facts, cli.Member{Name: "reportedAt", Value: stamp(c.ReportedAt)})
		}
		left := []string{}
		for _, l := range c.LeftResources {
			left = append(left, l.Path+": "+l.Error)
		}
		facts = append(facts, cli.Member{Name: "leftResources", Value: left})
	}
	return facts
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
