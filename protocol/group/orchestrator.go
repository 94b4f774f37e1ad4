package group

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The defaults of an Orchestrator (groups.md §9.1).
const (
	DefaultInterval  = 2 * time.Second
	DefaultThreshold = 10 * time.Second
)

// An OrchestratorState is the state of a group's orchestrator.
type OrchestratorState string

const (
	OrchestratorStarting     OrchestratorState = "starting"
	OrchestratorRunning      OrchestratorState = "running"
	OrchestratorShuttingDown OrchestratorState = "shuttingDown"
	OrchestratorStopped      OrchestratorState = "stopped"
)

// left reports whether a resident orchestrator has said that no more passes come from it.
func (s OrchestratorState) left() bool {
	return s == OrchestratorShuttingDown || s == OrchestratorStopped
}

func (s OrchestratorState) valid() bool {
	switch s {
	case OrchestratorStarting, OrchestratorRunning, OrchestratorShuttingDown, OrchestratorStopped:
		return true
	}
	return false
}

// An Orchestrator is the content of a group's orchestrator file (§9.1): the last pass, and the
// group's durations.
type Orchestrator struct {
	Schema             string // for editors, and otherwise ignored
	ProtocolVersion    int
	GroupID            string
	Revision           int64 // +1 with every pass
	PID                int   // of the last pass; 0: none
	Heartbeat          time.Time
	State              OrchestratorState
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
	Beat               observe.Beat
	Period             time.Duration // between the last pass and the one before; 0: unknown
	HostID             string        // where the last pass was made; "": unknown
	Failover           bool          // the last pass that nothing prompted had --failover
	Checks             []Checked     // of the health of services, by id; never changed
	Unknown            []wire.Member

	nested *wire.Nested
}

// newOrchestrator returns the orchestrator of the group id before its first pass.
func newOrchestrator(id string) Orchestrator {
	return Orchestrator{
		ProtocolVersion: wire.Version, GroupID: id, State: OrchestratorStopped,
		HeartbeatInterval: DefaultInterval, StalenessThreshold: DefaultThreshold,
	}
}

// checkedAt returns when the service id was checked last, or zero.
func (o *Orchestrator) checkedAt(id string) Checked {
	i := slices.IndexFunc(o.Checks, func(c Checked) bool { return c.Service == id })
	if i < 0 {
		return Checked{}
	}
	return o.Checks[i]
}

// setChecked notes that the service id is checked now.
func (o *Orchestrator) setChecked(id string, seen observe.Observation) {
	checks := slices.Clone(o.Checks)
	i, found := slices.BinarySearchFunc(checks, id, func(c Checked, id string) int {
		return cmp.Compare(c.Service, id)
	})
	if !found {
		checks = slices.Insert(checks, i, Checked{Service: id})
	}
	checks[i].At, checks[i].Beat = seen.Now, seen.Beat()
	o.Checks = checks
}

// DecodeOrchestrator returns the orchestrator in text, the content of an orchestrator file
// (§9.1). Its errors are those of wire.Decode.
func DecodeOrchestrator(text string) (Orchestrator, error) {
	return wire.DecodeRecord(text, (*Orchestrator).record)
}

// Encode returns the content of the orchestrator's file (§9.1).
func (o Orchestrator) Encode() string { return wire.Text(wire.Record(o.record)) }

// WriteTo writes what Encode returns. Its errors are those of out.
func (o Orchestrator) WriteTo(out io.Writer) (int64, error) {
	return wire.Write(out, wire.Record(o.record))
}

// record reads or writes o (§9.1).
func (o *Orchestrator) record(c *wire.Codec) {
	if c.Reads() {
		*o = newOrchestrator("")
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
