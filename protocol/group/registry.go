package group

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Registry is the content of a group's supervisors file (groups.md §9.2).
type Registry struct {
	Schema          string // for editors, and otherwise ignored
	ProtocolVersion int
	Revision        int64           // +1 with every edit
	Owner           string          // the owner of its passes; "" if there is none yet
	Supervision     Supervision     // what is done about failures in the group as a whole
	Services        []Service       // in the order of the file
	AlertSeq        int64           // number of the last alert
	AlertsGiven     int64           // number of the last alert given to a hook, or NoneGiven
	AlertTries      *AlertTries     // the alert that waits for another try; nil: none does
	AlertsLost      []int64         // the last ones that the hook has not taken in the last try
	PendingAlerts   []Alert         // not in the alerts file, as far as is known
	Events          []observe.Event // the last 64
	Audit           audit.Chain     // the end of the record; no verb changes it
	Unknown         []wire.Member
}

// NoneGiven is the AlertsGiven of a registry that has never given an alert to a hook.
const NoneGiven = -1

// newRegistry returns a registry without services.
func newRegistry() Registry {
	return Registry{ProtocolVersion: wire.Version, AlertsGiven: NoneGiven}
}

func (r Registry) index(id string) int {
	for i := range r.Services { // in place: a service is large
		if r.Services[i].ID == id {
			return i
		}
	}
	return -1
}

// Places returns the index of each service by id.
func (r Registry) Places() map[string]int {
	all := make(map[string]int, len(r.Services))
	for i := range r.Services {
		all[r.Services[i].ID] = i
	}
	return all
}

// Ordered returns the ids of all services in the order in which a pass visits them.
func (r Registry) Ordered() []string {
	return r.OrderedIf(func(*Service) bool { return true })
}

// OrderedIf returns the ids of the services for which is returns true, in order. It looks at each
// once, and sorts only those: mostly there are none.
func (r Registry) OrderedIf(is func(s *Service) bool) (ids []string) {
	var all []*Service
	for i := range r.Services {
		if is(&r.Services[i]) {
			all = append(all, &r.Services[i])
		}
	}
	slices.SortFunc(all, InOrder)

	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// leavesFirst returns the ids of all services, each after those that depend on it, and otherwise
// in order.
func (r Registry) leavesFirst() (ids []string) {
	done, ordered := make(map[string]bool), r.Ordered()
	var visit func(id string)
	visit = func(id string) {
		if done[id] {
			return
		}

		done[id] = true
		for _, other := range ordered {
			if slices.Contains(r.Services[r.index(other)].Dependencies, id) {
				visit(other)
			}
		}

		ids = append(ids, id)
	}

	for _, id := range ordered {
		visit(id)
	}

	return ids
}

// dependents returns the services that depend on id, directly or not, in order.
func (r Registry) dependents(id string) []string {
	found := map[string]bool{id: true}
	for grown := true; grown; {
		grown = false
		for i := range r.Services {
			s := &r.Services[i]
			if !found[s.ID] && slices.ContainsFunc(s.Dependencies,
				func(d string) bool { return found[d] }) {
				found[s.ID], grown = true, true
			}
		}
	}

	return slices.DeleteFunc(r.Ordered(), func(other string) bool {
		return other == id ||
			!found[other]
	})
}

// needed reports whether another service depends directly on id.
func (r Registry) needed(id string) bool {
	return slices.ContainsFunc(r.Services, func(other Service) bool {
		return other.ID != id && slices.Contains(other.AllDependencies(), id)
	})
}

// lastOrder returns the highest order of a service; 0: there is none.
func (r Registry) lastOrder() (last int64) {
	for i := range r.Services {
		last = max(last, r.Services[i].Order)
	}
	return last
}

// InSet reports whether the service id restarts together with others, and has not started yet.
func (r Registry) InSet(id string) bool { return slices.Contains(r.Supervision.Set, id) }

// Remaining returns those of set that have neither started again nor ended for good.
func (r Registry) Remaining(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(id string) bool {
		i := r.index(id)
		return i < 0 || r.Services[i].State == StateRunning || r.Services[i].State.Final()
	})
}

// same reports whether r and before differ at most in their revision.
func (r Registry) same(before Registry) bool {
	return r.Owner == before.Owner && r.Supervision.same(&before.Supervision) &&
		r.AlertSeq == before.AlertSeq &&
		r.AlertsGiven == before.AlertsGiven && r.AlertTries == before.AlertTries &&
		slices.Equal(r.AlertsLost, before.AlertsLost) &&
		len(r.PendingAlerts) == len(before.PendingAlerts) &&
		wire.SameSlice(r.Events, before.Events) &&
		(wire.SameSlice(r.Services, before.Services) ||
			slices.EqualFunc(r.Services, before.Services, sameService))
}

// checkRuns returns ErrGroupEnded, with the reason, if the group is ending or has ended.
func (r Registry) checkRuns() error {
	if end := r.Supervision.End; end.State != GroupRunning {
		return fmt.Errorf("%w: %s", ErrGroupEnded, end)
	}
	return nil
}

// checkDependencies returns ErrNoDependency if id depends on a service that is not there, or is
// about to be removed, and ErrCycle if it depends on itself.
func (r Registry) checkDependencies(id string) error {
	for _, d := range r.Services[r.index(id)].AllDependencies() {
		if i := r.index(d); i < 0 || r.Services[i].RemoveAfterStop {
			return fmt.Errorf("%w: %q depends on %q", ErrNoDependency, id, d)
		}
	}

	return r.checkCycle(id)
}

// checkCycle returns ErrCycle, with the path, if id depends on itself.
func (r Registry) checkCycle(id string) error {
	if path := r.cycle(id); path != nil {
		return fmt.Errorf("%w: %s", ErrCycle, strings.Join(path, " → "))
	}
	return nil
}

// cycle returns a shortest path along dependencies from id back to id, or nil if there is none.
func (r Registry) cycle(id string) (path []string) {
	from := make(map[string]string)
	for next := []string{id}; len(next) > 0; next = next[1:] {
		at := r.index(next[0])
		if at < 0 {
			continue
		}

		for _, d := range r.Services[at].AllDependencies() {
			if _, known := from[d]; !known {
				from[d], next = next[0], append(next, d)
			}
		}
	}

	if _, back := from[id]; !back {
		return nil
	}

	// Each service knows from where it was reached, so the path is found from its end.

	path = []string{id}
	for d := from[id]; d != id; d = from[d] {
		path = append(path, d)
	}
	path = append(path, id)
	slices.Reverse(path)
	return path
}

// DecodeRegistry returns the registry in text, the content of a supervisors file (§9.2). Its
// errors are those of wire.Decode.
func DecodeRegistry(text string) (Registry, error) {
	return wire.DecodeRecord(text, (*Registry).record)
}

// Encode returns the content of the registry's file (§9.2).
func (r Registry) Encode() string { return wire.Text(wire.Record(r.record)) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (r Registry) WriteTo(out io.Writer) (int64, error) {
	return wire.Write(out, wire.Record(r.record))
}

// record reads or writes r (§9.2).
func (r *Registry) record(c *wire.Codec) {
	if c.Reads() {
		*r = newRegistry()
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
			left := len(from.Text()) - from.Offset()
			r.Services = slices.Grow(r.Services, left/max(from.Offset()-start, shortest))
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
