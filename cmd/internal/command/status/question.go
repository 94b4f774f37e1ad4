package status

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// check is the predicate "the operation, the service of the group, or the queue is in state".
func (s *reporter) check(what subject, state string) error {
	if err := checkState(what, state); err != nil {
		return err
	}

	p, err := s.look(what)
	if err != nil {
		return err
	}

	var actual protocol.State
	var o cli.Object
	var holds bool
	switch {
	case what.queue != "":
		q, empty := p.queues[0], p.queues[0].Idle()
		actual = protocol.State(q.State())
		o = cli.Object{{"queueId", q.ID}, {"state", actual}, {"empty", empty},
			{"revision", q.Revision}}
		holds = string(actual) == state || state == string(queue.GoalEmpty) && empty
	case what.group != "" && what.service == "":
		g := p.groups[0]
		holds, actual = g.Healthy(), "unhealthy"
		if holds {
			actual = healthy
		}
		o = cli.Object{{"groupId", g.ID}, {"state", actual}, {"revision", g.Registry.Revision}}
	case what.group != "":
		g := p.groups[0]
		actual = protocol.State(g.Service(what.service).State)
		o = cli.Object{{"groupId", g.ID}, {"supervisorId", what.service},
			{"state", actual}, {"revision", g.Registry.Revision}}
		holds = g.Is(g.Service(what.service), group.ServiceState(state), g.Seen)
		switch state {
		case ready:
			holds = g.Ready(what.service, g.Seen)
		case healthy:
			holds = g.HealthyService(what.service)
		}
	default:
		op := p.ops[0]
		actual = op.State
		o = cli.Object{{"operationId", op.ID}, {"state", actual},
			{"revision", op.Revision}}
		holds = string(actual) == state || state == "terminal" && actual.Terminal()
	}

	if s.env.JSON() {
		s.env.PrintJSON(append(o, cli.Member{"holds", holds}))
	}

	if !holds {
		return cli.Exit(cli.StatusFalse)
	}
	return nil
}

// why prints everything on which the judgement of a call rests, or how the call ended.
func (s *reporter) why(what subject, call string) error {
	op, err := s.readRun(what.op, what.run)
	if err != nil {
		return err
	}

	calls := op.Calls()
	i := slices.IndexFunc(calls, func(c model.Call) bool { return c.CallID == call })
	if i < 0 {
		return s.whyEnded(op, call)
	}

	c := calls[i]
	return s.answer(facts(c), fmt.Sprintf("%s: call %s %s.", op.ID, call, explain.Is(string(c.State))), explain.Call(c),
		explain.Cures(explain.CallCures(c)))
}

// answer prints the answer to --why: the object o with the member facts; or a headline, the facts,
// and what comes next.
func (s *reporter) answer(o cli.Object, headline string, facts, next []string) error {
	if s.machine() {
		return s.print(append(o, cli.Member{"facts", append([]string{}, facts...)}), "")
	}

	for _, line := range slices.Concat([]string{headline}, facts, next) {
		fmt.Fprintln(s.env.Stdout, harmless.Text(line))
	}
	return nil
}

func facts(c model.Call) cli.Object {
	seen := c.Op.Seen
	facts := cli.Object{
		{"operationId", c.Op.ID}, {"callId", c.CallID}, {"callerId", cli.OrNull(c.CallerID)},
		{"participantId", c.ParticipantID}, {"state", c.State}, {"verdict", c.Verdict},
		{"ageMs", c.Age.Milliseconds()},
		{"stalenessThresholdMs", c.Op.StalenessThreshold.Milliseconds()},
		{"lastHeartbeat", wire.FormatTime(c.LastHeartbeat)}, {"now", wire.FormatTime(seen.Now)},
		{"monotonicClock", seen.Monotonic(c.LastHeartbeat, c.Beat)}, {"pid", c.PID},
		{"identityKnown", c.Process.Known() && c.Process.PID == c.PID},
		{"judgedBy", explain.JudgedBy(c)},
	}

	if window := explain.Window(c.Judgement); window != "" {
		facts = append(facts, cli.Object{{"graceUntil", wire.FormatTime(c.GraceUntil)},
			{"grace", window}}...)
	}
	if said := c.Said(); said.String() != "" {
		facts = append(facts, cli.Object{{"readiness", said.Readiness},
			{"note", said.Note}}...)
	}
	if c.Crash != nil {
		facts = append(facts, crashFacts(c.Crash)...)
	}

	return facts
}

func crashFacts(c *protocol.Crash) cli.Object {
	facts := cli.Object{
		{"crashedAt", wire.FormatTime(c.At)}, {"detectedBy", c.DetectedBy},
		{"evidence", c.Evidence}, {"staleForMs", c.StaleFor.Milliseconds()},
		{"previousState", c.PreviousState},
	}

	if !c.ReportedAt.IsZero() {
		facts = append(facts, cli.Member{"reportedAt", wire.FormatTime(c.ReportedAt)})
	}

	return append(facts, cli.Member{"leftResources", cli.LeftResources(c.LeftResources)})
}
