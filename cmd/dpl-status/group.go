package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

// groups lists the groups of the ledger.
func (s *shower) groups() error {
	ids, err := s.ledger.Groups()
	if err != nil {
		return err
	}
	worst, results := cli.StatusOK, []cli.Object{}
	for _, id := range ids {
		g, err := s.ledger.ReadGroup(id)
		if err != nil {
			s.env.Warnf("%v", cli.Named("status", id, "", err))
			worst = cli.Worse(worst, cli.StatusOf(err))
			continue
		}
		running := 0
		for i := range g.Registry.Supervisors {
			if g.Registry.Supervisors[i].State == protocol.StateRunning {
				running++
			}
		}
		heard, age := g.OrchestratorHeard(s.ledger.ObserveGroup(g, s.clock()))
		results = append(results, cli.Object{
			{Name: "groupId", Value: id}, {Name: "supervisors", Value: len(g.Registry.Supervisors)}, {Name: "running", Value: running},
			{Name: "orchestrator", Value: orchestrated(g, heard)}, {Name: "ageMs", Value: milliseconds(g.Orchestrator.Heartbeat, age)},
		})
	}
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{Name: "groups", Value: results}})
	} else if len(results) > 0 {
		s.table([]string{"groupId", "supervisors", "running", "orchestrator", "ageMs"},
			[]string{"GROUP", "SUPERVISORS", "RUNNING", "ORCHESTRATOR", "LAST PASS"}, results)
	}
	return cli.Exit(worst)
}

// orchestrated is the state of the orchestrator, or that none is heard of.
func orchestrated(g protocol.Group, heard bool) string {
	switch {
	case g.Orchestrator.Heartbeat.IsZero():
		return "none"
	case heard || g.Orchestrator.State == protocol.OrchestratorStopped:
		return string(g.Orchestrator.State)
	}
	return "stale"
}

// milliseconds returns age, or nil if there is no time that it is the age of.
func milliseconds(of time.Time, age time.Duration) any {
	if of.IsZero() {
		return nil
	}
	return age.Milliseconds()
}

// group shows one group, or one supervisor of it, as it is in its files and as it would be judged now.
func (s *shower) group(id, supervisor string) error {
	g, err := s.ledger.ReadGroup(id)
	if err != nil {
		return cli.Named("status", id, supervisor, err)
	}
	if supervisor != "" && g.Supervisor(supervisor) == nil {
		return cli.Named("status", id, supervisor, protocol.ErrNoSupervisor)
	}
	seen, rows := s.ledger.ObserveGroup(g, s.clock()), []cli.Object{}
	for i := range g.Registry.Supervisors {
		if r := &g.Registry.Supervisors[i]; supervisor == "" || r.ID == supervisor {
			rows = append(rows, registered(g, r, seen))
		}
	}
	heard, age := g.OrchestratorHeard(seen)
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{Name: "groupId", Value: id}, {Name: "orchestrator", Value: jsontext.Value(g.Orchestrator.Encode())}, {Name: "orchestratorHeard", Value: heard},
			{Name: "owner", Value: cli.OrNull(g.Registry.Owner)}, {Name: "revision", Value: g.Registry.Revision}, {Name: "supervisors", Value: rows},
		})
		return nil
	}
	fmt.Fprintf(s.env.Stdout, "%s: orchestrator %s", id, orchestrated(g, heard))
	if !g.Orchestrator.Heartbeat.IsZero() {
		fmt.Fprintf(s.env.Stdout, ", last pass %s by %s", ago(age.Milliseconds()), g.Registry.Owner)
	}
	fmt.Fprintln(s.env.Stdout)
	if len(rows) > 0 {
		fmt.Fprintln(s.env.Stdout)
		s.table([]string{"supervisorId", "state", "pid", "ageMs", "restartAttempts", "dependsOn", "verdict", "note"},
			[]string{"SUPERVISOR", "STATE", "PID", "LAST HEARTBEAT", "RESTARTS", "DEPENDS ON", "JUDGED NOW", "NOTE"}, rows)
	}
	return nil
}

func registered(g protocol.Group, r *protocol.Registered, seen protocol.Observation) cli.Object {
	evidence, age := g.JudgeRegistered(r, seen)
	verdict := "-"
	switch {
	case r.State == protocol.StateDead || r.State == protocol.StateStopped:
	case evidence != "" && (r.PID != 0 || !r.LastHeartbeat.IsZero()):
		verdict = string(evidence)
	case !r.LastHeartbeat.IsZero():
		verdict = "alive"
	}
	return cli.Object{
		{Name: "supervisorId", Value: r.ID}, {Name: "state", Value: string(r.State)}, {Name: "pid", Value: cli.PIDOrNull(r.PID)},
		{Name: "readiness", Value: string(r.Notice.Readiness)},
		{Name: "ageMs", Value: milliseconds(r.LastHeartbeat, age)}, {Name: "restartAttempts", Value: r.RestartAttempts},
		{Name: "dependencies", Value: append([]string{}, r.Dependencies...)}, {Name: "dependsOn", Value: cli.OrNull(strings.Join(r.Dependencies, ","))},
		{Name: "restartable", Value: r.Restartable}, {Name: "verdict", Value: verdict}, {Name: "note", Value: cli.OrNull(note(r, seen))},
	}
}

// note says what is to come of r, or what has come.
func note(r *protocol.Registered, seen protocol.Observation) string {
	switch {
	case r.BlockedBy != "":
		return "blocked by " + r.BlockedBy
	case !r.TermSentAt.IsZero():
		return "told to end " + ago(r.TermAge(seen).Milliseconds())
	case r.State == protocol.StateScheduled:
		return "restart in " + max(r.NextAttemptAt.Sub(seen.Now), 0).String()
	case r.State == protocol.StateRunning:
		return r.Notice.String()
	case r.LastExit != nil && r.LastExit.Error != "":
		return r.LastExit.Reason + ": " + r.LastExit.Error
	case r.LastExit != nil:
		return r.LastExit.Reason
	}
	return ""
}

// checkGroup is the predicate "the supervisor is in state".
func (s *shower) checkGroup(id, supervisor, state string) error {
	if err := knownState(supervisorStates, "a supervisor", state); err != nil {
		return err
	}
	g, err := s.ledger.ReadGroup(id)
	if err != nil {
		return cli.Named("status", id, supervisor, err)
	}
	r := g.Supervisor(supervisor)
	if r == nil {
		return cli.Named("status", id, supervisor, protocol.ErrNoSupervisor)
	}
	holds := string(r.State) == state
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{Name: "groupId", Value: id}, {Name: "supervisorId", Value: supervisor}, {Name: "state", Value: string(r.State)},
			{Name: "revision", Value: g.Registry.Revision}, {Name: "holds", Value: holds},
		})
	}
	if !holds {
		return cli.Exit(cli.StatusFalse)
	}
	return nil
}
