package status

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
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
	return cli.Object{
		{"groupId", g.ID}, {"orchestrator", jsontext.Value(g.Orchestrator.Encode())},
		{"orchestratorHeard", heard}, {"owner", cli.OrNull(g.Registry.Owner)},
		{"revision", g.Registry.Revision}, {"set", setObject(g)},
		{"supervision", jsontext.Value(g.Registry.Supervision.Encode())},
		{"supervisors", rows},
	}
}

// setObject returns the services that restart together, or nil if there are none.
func setObject(g model.Group) any {
	open := plan.OpenSetOf(g.Group, g.Seen)
	if len(open.Services) == 0 {
		return nil
	}
	return cli.Object{{"services", open.Services}, {"causes", append([]string{}, open.Causes...)},
		{"mustEnd", append([]string{}, open.Held...)}, {"dueAt", stampOrNull(open.Due)}}
}

// serviceObject returns how s is judged now, and its object in the file, without its environment,
// which may have secrets.
func serviceObject(s model.Service) cli.Object {
	return cli.Object{
		{"supervisorId", s.ID}, {"state", s.State}, {"pid", cli.OrNull(s.PID)},
		{"verdict", s.Verdict}, {"ageMs", milliseconds(s.LastHeartbeat, s.Age)},
		{"graceUntil", stampOrNull(s.GraceUntil)}, {"inTrouble", s.InTrouble()},
		{"note", cli.OrNull(explain.Note(s))}, {"outdated", s.Outdated()},
		{"clocks", objects(s.Clocks(s.Group.Seen), clock)},
		{"silencedMs", onFor(s.Silence, s.Group.Seen.Now)}, {"maintenanceMs", maintenanceMs(s)},
		{"log", cli.OrNull(s.Log())}, {"journal", cli.OrNull(s.Journal())},
		{"service", jsontext.Value(withoutEnvironment(*s.Service).Encode())},
	}
}

// withoutEnvironment returns s without the variables of its processes.
func withoutEnvironment(s group.Service) *group.Service {
	for _, start := range []**group.StartInfo{&s.StartInfo, &s.StartedWith} {
		if *start != nil {
			own := **start
			own.Environment = nil
			*start = &own
		}
	}
	return &s
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

// milliseconds returns age in milliseconds, or nil if the time of is zero.
func milliseconds(of time.Time, age time.Duration) any {
	if of.IsZero() {
		return nil
	}
	return age.Milliseconds()
}

func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return wire.FormatTime(t)
}
