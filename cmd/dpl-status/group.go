package main

import (
	"io"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

// readGroup returns the group id. It returns ErrNoService if service is not "" and not in the
// group.
func (s *reporter) readGroup(id, service string) (g view.Group, err error) {
	if g.Group, err = s.ledger.ReadGroup(id); err == nil && service != "" &&
		g.Service(service) == nil {
		err = protocol.ErrNoService
	}
	if err != nil {
		return g, cli.Named("status", id, service, err)
	}

	g.Seen = s.ledger.ObserveGroup(g.Group, s.clock())
	g.Log = func(service string) string { return s.ledger.LogPath(id, service) }
	return g, nil
}

// readGroups returns all groups that can be read, and an error for each other one.
func (s *reporter) readGroups() (groups []view.Group, warnings []error, err error) {
	ids, err := s.ledger.Groups()
	if err != nil {
		return nil, nil, err
	}

	for _, id := range ids {
		if g, err := s.readGroup(id, ""); err != nil {
			warnings = append(warnings, err)
		} else {
			groups = append(groups, g)
		}
	}

	return groups, warnings, nil
}

// groups lists the groups of the ledger.
func (s *reporter) groups() error {
	groups, warnings, err := s.readGroups()
	if err != nil {
		return err
	}

	if !s.env.JSON() {
		for _, err := range warnings {
			s.env.Warnf("%v", err)
		}
		io.WriteString(s.env.Stdout, screen().Groups(groups))
		return cli.Exit(picture{warnings: warnings}.status())
	}

	return s.print(cli.Object{{"groups", inShort(groups)}}, warnings)
}

// inShort returns the entries of a list of groups.
func inShort(groups []view.Group) []cli.Object {
	results := []cli.Object{}
	for _, g := range groups {
		_, age := g.OrchestratorHeard(g.Seen)
		results = append(results, cli.Object{
			{"groupId", g.ID}, {"supervisors", len(g.Registry.Services)},
			{"running", g.Running()},
			{"inTrouble", g.Troubled()},
			{"orchestrator", g.Orchestrated()},
			{"ageMs", milliseconds(g.Orchestrator.Heartbeat, age)},
		})
	}

	return results
}

// milliseconds returns age in milliseconds, or nil if the time of is zero.
func milliseconds(of time.Time, age time.Duration) any {
	if of.IsZero() {
		return nil
	}
	return age.Milliseconds()
}

// group prints one group, or one of its services, as JSON: its files, and how it would be judged
// now.
func (s *reporter) group(id, service string) error {
	g, err := s.readGroup(id, service)
	if err != nil {
		return err
	}

	rows := []cli.Object{}
	for i := range g.Registry.Services {
		if r := &g.Registry.Services[i]; service == "" || r.ID == service {
			rows = append(rows, registered(g, r))
		}
	}

	heard, _ := g.OrchestratorHeard(g.Seen)
	return s.print(cli.Object{
		{"groupId", id},
		{"orchestrator", jsontext.Value(g.Orchestrator.Encode())},
		{"orchestratorHeard", heard},
		{"owner", cli.OrNull(g.Registry.Owner)},
		{"revision", g.Registry.Revision}, {"supervisors", rows},
	}, nil)
}

func registered(g view.Group, r *protocol.Service) cli.Object {
	_, age := g.JudgeService(r, g.Seen)
	o := cli.Object{
		{"supervisorId", r.ID}, {"state", string(r.State)},
		{"pid", cli.PIDOrNull(r.PID)},
		{"readiness", string(r.Notice.Readiness)},
		{"ageMs", milliseconds(r.LastHeartbeat, age)},
		{"restartAttempts", r.RestartAttempts},
		{"dependencies", append([]string{}, r.Dependencies...)},
		{"dependsOn", cli.OrNull(strings.Join(r.Dependencies, ","))},
		{"restartable", r.Restartable}, {"verdict", g.ServiceVerdict(r)},
		{"note", cli.OrNull(g.Note(r))},
		{"graceUntil", stampOrNull(g.WindowOf(r, g.Seen))},
		{"inTrouble", g.InTrouble(r)},
		{"blockedBy", cli.OrNull(r.BlockedBy)},
		{"startedAt", stampOrNull(r.StartedAt)},
		{"runningSince", stampOrNull(r.RunningSince)},
		{"failedAt", stampOrNull(r.FailedAt)},
		{"nextAttemptAt", stampOrNull(r.NextAttemptAt)},
		{"startAgain", r.StartAgain}, {"outdated", r.Outdated()},
	}

	return append(append(o, startOf(g, r)...),
		cli.Member{"lastExit", lastExit(r.LastExit)})
}

// startOf returns how r is started and where its output goes. All members are null if no pass can
// start it.
func startOf(g view.Group, r *protocol.Service) cli.Object {
	if r.StartInfo == nil {
		return cli.Object{
			{"command", nil}, {"workingDirectory", nil},
			{"maxAttempts", nil}, {"log", nil},
		}
	}

	return cli.Object{
		{"command", append([]string{r.StartInfo.Command}, r.StartInfo.Args...)},
		{"workingDirectory", r.StartInfo.Dir},
		{"maxAttempts", r.StartInfo.Policy.MaxAttempts},
		{"log", g.Log(r.ID)},
	}
}

// lastExit returns how the previous process ended, or nil.
func lastExit(e *protocol.LastExit) any {
	if e == nil {
		return nil
	}

	var status any // unknown, which is not 0
	if e.Code != "" {
		status = e.Status
	}
	return cli.Object{
		{"at", view.Stamp(e.At)}, {"reason", e.Reason},
		{"code", cli.OrNull(string(e.Code))}, {"status", status},
		{"error", cli.OrNull(e.Error)},
	}
}

func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return view.Stamp(t)
}

// checkGroup is the predicate "the service is in state".
func (s *reporter) checkGroup(id, service, state string) error {
	if err := knownState(serviceStates, "a service", state); err != nil {
		return err
	}

	g, err := s.readGroup(id, service)
	if err != nil {
		return err
	}

	holds := string(g.Service(service).State) == state
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{"groupId", id}, {"supervisorId", service},
			{"state", string(g.Service(service).State)},
			{"revision", g.Registry.Revision}, {"holds", holds},
		})
	}

	if !holds {
		return cli.Exit(cli.StatusFalse)
	}

	return nil
}
