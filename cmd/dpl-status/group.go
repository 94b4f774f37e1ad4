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

	return s.print(cli.Object{{Name: "groups", Value: inShort(groups)}}, warnings)
}

// inShort returns the entries of a list of groups.
func inShort(groups []view.Group) []cli.Object {
	results := []cli.Object{}
	for _, g := range groups {
		_, age := g.OrchestratorHeard(g.Seen)
		results = append(results, cli.Object{
			{Name: "groupId", Value: g.ID}, {Name: "supervisors", Value: len(g.Registry.Services)},
			{Name: "running", Value: g.Running()},
			{Name: "inTrouble", Value: g.Troubled()},
			{Name: "orchestrator", Value: g.Orchestrated()},
			{Name: "ageMs", Value: milliseconds(g.Orchestrator.Heartbeat, age)},
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
		{Name: "groupId", Value: id},
		{Name: "orchestrator", Value: jsontext.Value(g.Orchestrator.Encode())},
		{Name: "orchestratorHeard", Value: heard},
		{Name: "owner", Value: cli.OrNull(g.Registry.Owner)},
		{Name: "revision", Value: g.Registry.Revision}, {Name: "supervisors", Value: rows},
	}, nil)
}

func registered(g view.Group, r *protocol.Service) cli.Object {
	_, age := g.JudgeService(r, g.Seen)
	o := cli.Object{
		{Name: "supervisorId", Value: r.ID}, {Name: "state", Value: string(r.State)},
		{Name: "pid", Value: cli.PIDOrNull(r.PID)},
		{Name: "readiness", Value: string(r.Notice.Readiness)},
		{Name: "ageMs", Value: milliseconds(r.LastHeartbeat, age)},
		{Name: "restartAttempts", Value: r.RestartAttempts},
		{Name: "dependencies", Value: append([]string{}, r.Dependencies...)},
		{Name: "dependsOn", Value: cli.OrNull(strings.Join(r.Dependencies, ","))},
		{Name: "restartable", Value: r.Restartable}, {Name: "verdict", Value: g.ServiceVerdict(r)},
		{Name: "note", Value: cli.OrNull(g.Note(r))},
		{Name: "graceUntil", Value: stampOrNull(g.WindowOf(r, g.Seen))},
		{Name: "inTrouble", Value: g.InTrouble(r)},
		{Name: "blockedBy", Value: cli.OrNull(r.BlockedBy)},
		{Name: "startedAt", Value: stampOrNull(r.StartedAt)},
		{Name: "runningSince", Value: stampOrNull(r.RunningSince)},
		{Name: "failedAt", Value: stampOrNull(r.FailedAt)},
		{Name: "nextAttemptAt", Value: stampOrNull(r.NextAttemptAt)},
		{Name: "startAgain", Value: r.StartAgain}, {Name: "outdated", Value: r.Outdated()},
	}

	return append(append(o, startOf(g, r)...),
		cli.Member{Name: "lastExit", Value: lastExit(r.LastExit)})
}

// startOf returns how r is started and where its output goes. All members are null if no pass can
// start it.
func startOf(g view.Group, r *protocol.Service) cli.Object {
	if r.StartInfo == nil {
		return cli.Object{
			{Name: "command", Value: nil}, {Name: "workingDirectory", Value: nil},
			{Name: "maxAttempts", Value: nil}, {Name: "log", Value: nil},
		}
	}

	return cli.Object{
		{Name: "command", Value: append([]string{r.StartInfo.Command}, r.StartInfo.Args...)},
		{Name: "workingDirectory", Value: r.StartInfo.Dir},
		{Name: "maxAttempts", Value: r.StartInfo.Policy.MaxAttempts},
		{Name: "log", Value: g.Log(r.ID)},
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
		{Name: "at", Value: view.Stamp(e.At)}, {Name: "reason", Value: e.Reason},
		{Name: "code", Value: cli.OrNull(string(e.Code))}, {Name: "status", Value: status},
		{Name: "error", Value: cli.OrNull(e.Error)},
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
			{Name: "groupId", Value: id}, {Name: "supervisorId", Value: service},
			{Name: "state", Value: string(g.Service(service).State)},
			{Name: "revision", Value: g.Registry.Revision}, {Name: "holds", Value: holds},
		})
	}

	if !holds {
		return cli.Exit(cli.StatusFalse)
	}

	return nil
}
