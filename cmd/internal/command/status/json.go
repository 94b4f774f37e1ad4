package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// json returns p as JSON.
func (p picture) json() cli.Object {
	switch {
	case p.queue != "":
		return queueObject(p.queues[0], p.tasks)
	case p.group != "":
		all := groupObject(p.groups[0], p.service)
		if below := p.groups[1:]; len(below) > 0 {
			all = append(all, cli.Member{"children", objects(below, func(g model.Group) cli.Object {
				return groupObject(g, "")
			})})
		}
		return all
	case p.supervisor != "":
		return cli.Object{{"supervisorId", p.supervisor},
			{"calls", objects(p.supervised(), func(c model.Call) cli.Object {
				return append(cli.Object{{"operationId", c.Op.ID}}, call(c)...)
			})}}
	case p.op != "":
		return operationObject(p.ops[0])
	}

	groups := cli.Member{"groups", objects(p.groups, groupInShort)}
	queues := cli.Member{"queues", objects(p.queues, queueInShort)}
	switch {
	case p.onlyGroups:
		return cli.Object{groups}
	case p.onlyQueues:
		return cli.Object{queues}
	}
	ops := slices.Concat(p.ops, p.past)
	return cli.Object{{"operations", objects(ops, operationInShort)}, groups, queues,
		{"othersArchived", p.archived}}
}

// list returns the name of the member that lists what was asked for, or "" if that is one thing, or
// the whole ledger.
func (p picture) list() string {
	switch {
	case p.onlyGroups:
		return "groups"
	case p.onlyQueues:
		return "queues"
	case p.supervisor != "" && p.group == "" && p.queue == "":
		return "calls"
	}
	return ""
}

// objects returns an array of the values.
func objects[T any](values []T, object func(T) cli.Object) []cli.Object {
	all := []cli.Object{}
	for _, v := range values {
		all = append(all, object(v))
	}
	return all
}

func operationInShort(op model.Operation) cli.Object {
	return append(cli.Object{
		{"operationId", op.ID}, {"state", op.State}, {"revision", op.Revision},
		{"calls", len(op.Stack)}, {"crashed", op.Crashed()},
		{"ageMs", op.Seen.Now.Sub(op.LastHeartbeat).Milliseconds()},
		{"runId", cli.OrNull(op.RunID)}, {"archived", op.Archived},
		{"startedAt", stampOrNull(op.StartedAt())}, {"endedAt", stampOrNull(op.EndedAt())},
	}, left(op)...)
}

func groupInShort(g model.Group) cli.Object {
	_, age := g.OrchestratorHeard(g.Seen)
	return cli.Object{
		{"groupId", g.ID}, {"supervisors", len(g.Registry.Services)}, {"running", g.Running()},
		{"inTrouble", g.Troubled()}, {"orchestrator", g.Orchestrated()},
		{"ageMs", milliseconds(g.Orchestrator.Heartbeat, age)},
		{"inMaintenance", inMaintenance(g)},
	}
}

// inMaintenance returns for how many milliseconds each service of g that is in a maintenance has
// been so.
func inMaintenance(g model.Group) cli.Object {
	all := cli.Object{}
	for _, s := range g.Services() {
		if ms := maintenanceMs(s); ms != nil {
			all = append(all, cli.Member{s.ID, ms})
		}
	}
	return all
}

// operationObject returns the file of op, and how it would be judged now.
func operationObject(op model.Operation) cli.Object {
	return append(cli.Object{
		{"operation", jsontext.Value(op.Encode())}, {"archived", op.Archived},
		{"calls", objects(op.Calls(), call)},
		{"supervisors", objects(op.JudgedSupervisors(), supervisor)},
		{"runId", cli.OrNull(op.RunID)},
	}, left(op)...)
}

func call(c model.Call) cli.Object {
	return cli.Object{
		{"callId", c.CallID}, {"callerId", cli.OrNull(c.CallerID)},
		{"participantId", c.ParticipantID}, {"pid", c.PID}, {"state", c.State},
		{"readiness", c.Said().Readiness}, {"note", c.Said().Note},
		{"ageMs", c.Age.Milliseconds()}, {"supervisorId", cli.OrNull(c.SupervisorID)},
		{"supervisorHandle", cli.OrNull(c.SupervisorHandle)}, {"verdict", c.Verdict},
		{"graceUntil", stampOrNull(c.GraceUntil)},
	}
}

func supervisor(v model.Supervisor) cli.Object {
	return cli.Object{
		{"supervisorId", v.ID}, {"pid", v.PID}, {"status", v.Status},
		{"ageMs", v.Age.Milliseconds()}, {"verdict", v.Verdict},
		{"graceUntil", stampOrNull(v.GraceUntil)},
	}
}

// groupObject returns the files of g, or of one service of it, and how they would be judged now.
func groupObject(g model.Group, service string) cli.Object {
	rows := []cli.Object{}
	for _, s := range g.Services() {
		if service == "" || s.ID == service {
			rows = append(rows, serviceObject(s))
		}
	}

	heard, _ := g.OrchestratorHeard(g.Seen)
	strategy := g.Registry.Supervision.Strategy
	return cli.Object{
		{"groupId", g.ID}, {"orchestrator", jsontext.Value(g.Orchestrator.Encode())},
		{"orchestratorHeard", heard}, {"owner", cli.OrNull(g.Registry.Owner)},
		{"revision", g.Registry.Revision}, {"strategy", cmp.Or(strategy, group.OneForOne)},
		{"window", cli.OrNull(g.Registry.Supervision.Window)},
		{"autoShutdown", cmp.Or(g.Registry.Supervision.AutoShutdown, "never")},
		{"onExit", cmp.Or(g.Registry.Supervision.OnExit, "none")},
		{"rules", objects(g.Registry.Supervision.Rules, rule)},
		{"set", setObject(g)},
		{"end", end(g.Registry.Supervision.End)}, {"limit", limit(g.Registry.Supervision)},
		{"supervisors", rows},
	}
}

// setObject returns the services that restart together, or nil if there are none.
func setObject(g model.Group) any {
	open := g.OpenSet(g.Seen)
	if len(open.Services) == 0 {
		return nil
	}
	return cli.Object{{"services", open.Services}, {"causes", append([]string{}, open.Causes...)},
		{"mustEnd", append([]string{}, open.Held...)}, {"dueAt", stampOrNull(open.Due)}}
}

// end returns why the group ends, or nil if it runs.
func end(e group.End) any {
	if e.State == group.GroupRunning {
		return nil
	}
	return cli.Object{{"state", e.State}, {"reason", e.Reason}, {"message", cli.OrNull(e.Message)},
		{"endedAt", stampOrNull(e.At)}}
}

// limit returns how many failures the group stands, and those that count, or nil without a limit.
func limit(v group.Supervision) any {
	if v.Limit.Period == 0 {
		return nil
	}
	return cli.Object{{"intensity", v.Limit.Intensity},
		{"intensityPeriodMs", v.Limit.Period.Milliseconds()},
		{"onIntensity", v.Limit.OnIntensity}, {"restarts", stamps(v.Restarts)}}
}

func serviceObject(s model.Service) cli.Object {
	o := cli.Object{
		{"supervisorId", s.ID}, {"state", s.State}, {"pid", cli.OrNull(s.PID)},
		{"readiness", s.Notice.Readiness}, {"health", health(s.Health)},
		{"ageMs", milliseconds(s.LastHeartbeat, s.Age)}, {"restartAttempts", s.RestartAttempts},
		{"dependencies", append([]string{}, s.Dependencies...)},
		{"restartable", s.Restartable}, {"verdict", s.Verdict}, {"note", cli.OrNull(explain.Note(s))},
		{"graceUntil", stampOrNull(s.GraceUntil)}, {"inTrouble", s.InTrouble()},
		{"blockedBy", cli.OrNull(s.BlockedBy)}, {"startedAt", stampOrNull(s.StartedAt)},
		{"runningSince", stampOrNull(s.RunningSince)}, {"failedAt", stampOrNull(s.FailedAt)},
		{"nextAttemptAt", stampOrNull(s.NextAttemptAt)}, {"startAgain", s.StartAgain},
		{"outdated", s.Outdated()}, {"restart", s.Restart},
		{"dependenciesCompleted", append([]string{}, s.DependenciesCompleted...)},
		{"retries", s.Retries}, {"restarts", stamps(s.Restarts)},
		{"restartCause", cli.OrNull(s.RestartCause)},
		{"clocks", objects(s.Clocks(s.Group.Seen), clock)}, {"budget", amounts(s.Budget())},
		{"spent", amounts(s.Spent)}, {"spentTotal", amounts(s.SpentTotal)},
		{"violations", objects(s.Violations.All(), violation)},
		{"silencedMs", onFor(s.Silence, s.Group.Seen.Now)},
		{"maintenanceMs", maintenanceMs(s)},
	}
	return append(append(o, startOf(s)...), cli.Member{"stopFor", stopFor(s.StopFor)},
		cli.Member{"lastExit", lastExit(s.LastExit)})
}

// onFor returns for how many milliseconds o has been on, or nil if it is not.
func onFor(o *group.Span, now time.Time) any {
	if !o.On(now) {
		return nil
	}
	return now.Sub(o.At).Milliseconds()
}

// maintenanceMs returns for how long s has been in a maintenance, or nil.
func maintenanceMs(s model.Service) any {
	if s.Maintenance == nil {
		return nil
	}
	return onFor(&s.Maintenance.Span, s.Group.Seen.Now)
}

// amounts returns an object of names and numbers.
func amounts(all group.Amounts) cli.Object {
	o := cli.Object{}
	for _, a := range all {
		o = append(o, cli.Member{a.Name, a.N})
	}
	return o
}

// clock returns what a clock shows; its times are null if they are never reached.
func clock(c group.Clock) cli.Object {
	never := func(d time.Duration) any {
		if d == 0 {
			return nil
		}
		return d.Milliseconds()
	}
	return cli.Object{{"clock", c.Name}, {"showsMs", c.Shows.Milliseconds()},
		{"softMs", never(c.Soft)}, {"maxMs", never(c.Hard)}, {"askedAt", stampOrNull(c.AskedAt)},
		{"answered", c.Answered}}
}

// rule returns what follows violations whose code matches.
func rule(r group.Rule) cli.Object { return cli.Object{{"match", r.Match}, {"action", r.Action}} }

// violation returns one that was reported, and what was done about it.
func violation(v group.Violation) cli.Object {
	return cli.Object{{"at", wire.FormatTime(v.At)}, {"code", v.Code}, {"detail", cli.OrNull(v.Detail)},
		{"action", v.Action}, {"by", cli.OrNull(v.By)}}
}

// stopFor returns why passes stop a service, or nil.
func stopFor(s *group.StopFor) any {
	if s == nil {
		return nil
	}
	return cli.Object{{"reason", s.Reason}, {"detail", cli.OrNull(s.Detail)}, {"then", s.Then}}
}

// startOf returns how s is started and where its output goes. All members are null if no pass can
// start it.
func startOf(s model.Service) cli.Object {
	var command, dir, file, most, log any
	if start := s.StartInfo; start != nil {
		command = append([]string{start.Command}, start.Args...)
		file = cli.OrNull(start.EnvironmentFile)
		dir, most, log = start.Dir, start.Policy.MaxAttempts, cli.OrNull(s.Log())
	}
	return cli.Object{{"command", command}, {"workingDirectory", dir}, {"environmentFile", file},
		{"maxAttempts", most},
		{"log", log}, {"journal", cli.OrNull(s.Journal())}}
}

// lastExit returns how the previous process ended, or nil.
func lastExit(e *group.LastExit) any {
	if e == nil {
		return nil
	}

	var status any // unknown, which is not 0
	if e.Code != "" {
		status = e.Status
	}
	return cli.Object{
		{"at", wire.FormatTime(e.At)}, {"reason", e.Reason}, {"detail", cli.OrNull(e.Detail)},
		{"class", cli.OrNull(e.Class)}, {"code", cli.OrNull(e.Code)},
		{"status", status}, {"error", cli.OrNull(e.Error)},
		{"note", cli.OrNull(e.Note)},
	}
}

// milliseconds returns age in milliseconds, or nil if the time of is zero.
func milliseconds(of time.Time, age time.Duration) any {
	if of.IsZero() {
		return nil
	}
	return age.Milliseconds()
}

func stamps(times []time.Time) []string {
	all := []string{}
	for _, t := range times {
		all = append(all, wire.FormatTime(t))
	}
	return all
}

func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return wire.FormatTime(t)
}

// health returns what checks of a service have found, or nil.
func health(h *group.Health) any {
	if h == nil {
		return nil
	}
	o := cli.Object{{"passed", h.Passed}, {"failures", h.Failures}, {"output", h.Output}}
	if c := h.CannotRun; c != nil {
		o = append(o, cli.Member{"cannotRun", cli.Object{{"at", wire.FormatTime(c.At)},
			{"message", c.Message}, {"trouble", c.Trouble}}})
	}
	return o
}
