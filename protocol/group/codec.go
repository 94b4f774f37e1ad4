package group

import (
	"cmp"
	"io"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// DecodeOrchestrator returns the orchestrator in text, the content of an orchestrator file (spec
// §9.1). Its errors are those of wire.Decode.
func DecodeOrchestrator(text string) (Orchestrator, error) {
	return wire.DecodeRecord(text, (*Orchestrator).record)
}

// Encode returns the content of the orchestrator's file (spec §9.1).
func (o Orchestrator) Encode() string { return wire.Text(wire.Record(o.record)) }

// WriteTo writes what Encode returns. Its errors are those of out.
func (o Orchestrator) WriteTo(out io.Writer) (int64, error) {
	return wire.Write(out, wire.Record(o.record))
}

// record reads or writes o (spec §9.1).
func (o *Orchestrator) record(c *wire.Codec) {
	if c.Reads() {
		*o = Create("").Orchestrator
	}
	c.Record(&o.Unknown, o.members, "orchestrationGroupId", "state")
}

func (o *Orchestrator) members(c *wire.Codec) {
	c.String("$schema", &o.Schema, wire.IfSet)
	c.Version(&o.ProtocolVersion)
	c.ID("orchestrationGroupId", &o.GroupID, wire.Always)
	c.Revision("revision", &o.Revision, wire.Always)
	c.IntOrNull("orchestratorPid", &o.PID, wire.IfSet)
	c.TimeOrNull("orchestratorHeartbeat", &o.Heartbeat, wire.IfSet)
	wire.Word(c, "state", &o.State, "state", OrchestratorState.valid, wire.Always)
	c.Milliseconds("heartbeatIntervalMs", &o.HeartbeatInterval, 1, wire.Always)
	c.Milliseconds("stalenessThresholdMs", &o.StalenessThreshold, 1, wire.Always)
	o.Beat.Member(c, "beat", &o.nested)
	c.Milliseconds("periodMs", &o.Period, 0, wire.If(o.Period != 0))
	c.String("hostId", &o.HostID, wire.IfSet)
	c.Bool("failover", &o.Failover, wire.IfSet)
	c.Own("checks", o.readChecks, o.writeChecks, wire.If(len(o.Checks) > 0))
}

func (o *Orchestrator) readChecks(r *wire.Reader) {
	r.Object(func(id string) {
		o.Checks = append(o.Checks, Checked{Service: id})
		o.Checks[len(o.Checks)-1].record(r.Codec())
	})
	slices.SortFunc(o.Checks, func(a, b Checked) int { return cmp.Compare(a.Service, b.Service) })
}

func (o *Orchestrator) writeChecks(w *wire.Writer) {
	w.Object("checks", func(w *wire.Writer) {
		for i := range o.Checks {
			checked := &o.Checks[i]
			w.Object(checked.Service, func(w *wire.Writer) { checked.record(w.Codec()) })
		}
	})
}

// DecodeRegistry returns the registry in text, the content of a supervisors file (spec §9.2). Its
// errors are those of wire.Decode.
func DecodeRegistry(text string) (Registry, error) {
	return wire.DecodeRecord(text, (*Registry).record)
}

// Encode returns the content of the registry's file (spec §9.2).
func (r Registry) Encode() string { return wire.Text(wire.Record(r.record)) }

// Encode returns s as the registry has it (spec §9.3), without white space.
func (s *Service) Encode() string { return wire.Line(wire.Record(s.record)) }

// Encode returns v as the registry has it (spec §22), without white space.
func (v *Supervision) Encode() string { return wire.Line(wire.Record(v.record)) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (r Registry) WriteTo(out io.Writer) (int64, error) {
	return wire.Write(out, wire.Record(r.record))
}

// record reads or writes r (spec §9.2).
func (r *Registry) record(c *wire.Codec) {
	if c.Reads() {
		*r = Create("").Registry
	}
	c.Record(&r.Unknown, r.members, "supervisors")
}

func (r *Registry) members(c *wire.Codec) {
	c.String("$schema", &r.Schema, wire.IfSet)
	c.Version(&r.ProtocolVersion)
	c.Revision("revision", &r.Revision, wire.Always)
	c.Text("owner", &r.Owner, (*wire.Reader).IDOrNull, wire.IfSet)
	r.Supervision.member(c)
	c.Own("supervisors", r.readServices, r.writeServices, wire.Always)
	c.Revision("alertSeq", &r.AlertSeq, wire.IfSet)
	c.Revision("alertsGiven", &r.AlertsGiven, wire.If(r.AlertsGiven != NoneGiven))
	wire.Pointer(c, "alertTries", &r.AlertTries, (*AlertTries).record)
	c.Own("alertsLost", r.readAlertsLost, r.writeAlertsLost, wire.If(len(r.AlertsLost) > 0))
	wire.Objects(c, "pendingAlerts", &r.PendingAlerts, (*Alert).record, wire.IfSet)
	wire.Objects(c, "events", &r.Events, (*observe.Event).Record, wire.Always)
	r.Audit.Member(c)
}

// readServices reads the services of a group. Most are like the first, so that says how many there
// are.
func (r *Registry) readServices(from *wire.Reader) {
	const shortest = 256 // bytes that a service has in a file that DPL has written, or more
	start := from.Offset()
	from.Map(func(key string) {
		r.Services = append(r.Services, newService(key))
		r.Services[len(r.Services)-1].record(from.Codec())
		if len(r.Services) == 1 {
			rest := len(from.Text()) - from.Offset()
			r.Services = slices.Grow(r.Services, rest/max(from.Offset()-start, shortest))
		}
	})
}

func (r *Registry) writeServices(w *wire.Writer) {
	w.Object("supervisors", func(w *wire.Writer) {
		for i := range r.Services {
			s := &r.Services[i]
			w.Object(s.ID, func(w *wire.Writer) { s.record(w.Codec()) })
		}
	})
}

func (r *Registry) readAlertsLost(from *wire.Reader) {
	from.Array(func() { r.AlertsLost = append(r.AlertsLost, from.Revision()) })
}

func (r *Registry) writeAlertsLost(w *wire.Writer) { w.Ints("alertsLost", r.AlertsLost) }

// Line returns the alert as a line of the alerts file of group (spec §11.7), with its newline. log
// is the path of the log of its service relative to the ledger, or "" if it concerns no service.
func (a Alert) Line(group, log string) string {
	return wire.Line(func(w *wire.Writer) {
		w.String("orchestrationGroupId", group)
		a.members(w.Codec())
		w.OptString("log", log)
		w.Unknown(slices.DeleteFunc(slices.Clone(a.Unknown), func(m wire.Member) bool {
			// A duplicate would not be valid JSON.
			return m.Name == "orchestrationGroupId" || m.Name == "log"
		}))
	}) + "\n"
}

func (a *Alert) record(c *wire.Codec) { c.Record(&a.Unknown, a.members, "seq", "timestamp") }

func (a *Alert) members(c *wire.Codec) {
	if c.Revision("seq", &a.Seq, wire.Always) && a.Seq == 0 {
		c.Refuse("an alert is counted from 1")
	}
	c.String("type", (*string)(&a.Type), wire.Always)
	c.ID("supervisorId", &a.ServiceID, wire.IfSet)
	c.String("message", &a.Message, wire.Always)
	c.Time("timestamp", &a.Timestamp, wire.Always)
	c.Bool("silenced", &a.Silenced, wire.IfSet)
}

// usually is a word of which usual is not written: it is "".
func usually[T ~string](c *wire.Codec, name string, s *T, what string, usual T, others ...T) {
	if wire.Word(c, name, s, what, func(word T) bool {
		return word == usual || slices.Contains(others, word)
	}, wire.IfSet) && *s == usual {
		*s = ""
	}
}
