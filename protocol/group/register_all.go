package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A FileRegistration has the arguments of RegisterAll (supervision.md §31.2).
type FileRegistration struct {
	By       string
	File     ServicesFile
	Recorded Recorded // of who registers
	Resume   bool     // let the group run again if it has ended
	Prune    bool     // also remove what the file does not declare
}

// A Planned is what RegisterAll does about one service, or about the settings of the group.
type Planned struct {
	ID        string // "": the group
	What      PlannedChange
	Members   []string // the members that change, such as startInfo.args; sorted
	AfterStop bool     // it is removed when it has stopped
}

// A PlannedChange is the kind of a Planned.
type PlannedChange string

const (
	PlanAdd    PlannedChange = "add"
	PlanChange PlannedChange = "change"
	PlanKeep   PlannedChange = "keep"
	PlanRemove PlannedChange = "remove"
)

// RegisterAll returns g with the services of a file as it declares them (§31.2), and what
// changes: first those of the file, in its order, then those that are removed, in order, and last
// the settings of the group, if they change. A service that already is as declared stays as it is,
// whatever its state. It returns ErrExhausted, ErrGroupEnded, and with names ErrTwoClasses,
// ErrSignificant, ErrNoDependency and ErrCycle.
func (g Group) RegisterAll(r FileRegistration, seen observe.Observation) (Group, []Planned, error) {
	services := r.File.Services
	for _, decl := range services {
		if decl.StartInfo.ExitStatus.Twice() {
			return g, nil, fmt.Errorf("%w: %q", ErrTwoClasses, decl.ID)
		}
		if decl.Significant && decl.Restart == policy.Permanent {
			return g, nil, fmt.Errorf("%w: %q", ErrSignificant, decl.ID)
		}
	}

	d := g.Begin("registerAll", r.By, seen)
	if r.Resume {
		d.resume()
	}
	if err := d.Group.Registry.checkRuns(); err != nil {
		return g, nil, err
	}

	var plan []Planned
	for i := range services {
		if err := d.Group.becomes(d.Service(services[i].ID), services[i].StartInfo, d.Seen); err != nil {
			return g, nil, err
		}
		plan = append(plan, d.declare(&services[i], r.Recorded))
	}

	if r.Prune {
		plan = append(plan, d.prune(services)...)
	}
	if r.File.Supervision != nil {
		plan = append(plan, d.setSettings(r.File.Supervision)...)
	}

	// Order and dependencies come last, when all services are there: a file may declare a service
	// before those on which it depends.
	if err := d.arrange(plan[:len(services)]); err != nil {
		return g, nil, err
	}

	for i := range services {
		if err := d.Group.Registry.checkDependencies(services[i].ID); err != nil {
			return g, nil, err
		}
	}

	after, err := d.end()
	if err != nil {
		return g, nil, err
	}

	return after, plan, nil
}

// setSettings gives the group the settings of to.
func (d *Draft) setSettings(to *Supervision) []Planned {
	v := &d.Group.Registry.Supervision
	before := *v
	v.setSettings(to)
	changed := differ(wire.Text(wire.Record(before.settings)), wire.Text(wire.Record(v.settings)))
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	for i := range changed {
		changed[i] = "supervision." + changed[i]
	}
	return []Planned{{What: PlanChange, Members: changed}}
}

// declare makes the entry of a service say what decl says.
func (d *Draft) declare(decl *Declaration, recorded Recorded) Planned {
	s := d.Service(decl.ID)
	if s == nil {
		all := append(d.Services(), newService(decl.ID))
		d.Group.Registry.Services, s = all, &all[len(all)-1]
		s.apply(decl, recorded)
		d.request(s)
		return Planned{ID: decl.ID, What: PlanAdd}
	}

	changes := s.changes(decl, recorded)
	if changes == nil {
		return Planned{ID: decl.ID, What: PlanKeep}
	}

	s.apply(decl, recorded)
	if d.request(s); s.State == StateShuttingDown {
		s.StartAgain, s.RemoveAfterStop, s.StoppedBy = true, false, ""
	}

	return Planned{ID: decl.ID, What: PlanChange, Members: changes}
}

// changes returns the members of s that would change to become as d says, or nil. What was recorded
// at an earlier registration is no reason to change anything.
func (s *Service) changes(d *Declaration, recorded Recorded) []string {
	if s.StartInfo != nil {
		same := *s
		same.apply(d, s.StartInfo.recorded())
		if same.StartedWith, same.Asked = s.StartedWith, s.Asked; len(differences(s, &same)) == 0 {
			return nil
		}
	}

	after := *s
	after.apply(d, recorded)
	after.StartedWith, after.Asked = s.StartedWith, s.Asked
	return differences(s, &after)
}

// apply replaces what was asked for of s by d, with what is recorded.
func (s *Service) apply(d *Declaration, recorded Recorded) {
	to, was := *d.StartInfo, s.ServiceSpec
	to.Environment = d.within(recorded.Variables)
	if to.Group == "" && !to.Context.Umask.Set {
		to.Context.Umask = recorded.Umask
	}
	s.ServiceSpec = d.ServiceSpec
	s.Order, s.StartInfo = was.Order, was.StartInfo
	if s.StartInfo == nil || !s.StartInfo.equal(&to) {
		s.startInfoChanges(&to)
	}

	s.Heartbeats, s.RemoveAfterStop = d.Heartbeats, false
}

// prune removes all services that are not declared. Those that may still run are asked to stop
// first, and a pass removes them then.
func (d *Draft) prune(declared []Declaration) (plan []Planned) {
	for _, id := range d.Group.Registry.Ordered() {
		if slices.ContainsFunc(declared, func(decl Declaration) bool { return decl.ID == id }) {
			continue
		}

		s := d.Service(id)
		if d.removable(s) {
			d.Remove(s)
			plan = append(plan, Planned{ID: id, What: PlanRemove})
			continue
		}

		d.AskToStop(s, "", "")
		s.StartAgain, s.RemoveAfterStop = false, true
		plan = append(plan, Planned{ID: id, What: PlanRemove, AfterStop: true})
	}

	return plan
}

// arrange puts the declared services in the order of the file, which is that of plan. It notes in
// plan where that changes something.
func (d *Draft) arrange(plan []Planned) error {
	before := int64(-1)
	for i := range plan {
		p, s := &plan[i], d.Service(plan[i].ID)
		if p.What == PlanAdd || s.Order <= before {
			last := d.Group.Registry.lastOrder()
			if last >= wire.LastRevision {
				return wire.ErrExhausted
			}

			s.Order = last + 1
			if p.What != PlanAdd {
				p.What, p.Members = PlanChange, append(p.Members, "order")
				slices.Sort(p.Members)
			}
		}
		before = s.Order
	}

	return nil
}

// differences returns the members in which the texts of a and b differ, sorted. Members of objects
// are named like startInfo.args.
func differences(a, b *Service) []string {
	names := differ(wire.Text(wire.Record(a.record)), wire.Text(wire.Record(b.record)))
	slices.Sort(names)
	return names
}

func differ(a, b string) (names []string) {
	before, after := textMembers(a), textMembers(b)
	for _, m := range after {
		i := slices.IndexFunc(before, func(o wire.Member) bool { return o.Name == m.Name })
		switch {
		case i < 0:
			names = append(names, m.Name)
		case isObject(before[i].Value) && isObject(m.Value):
			for _, inner := range differ(before[i].Value, m.Value) {
				names = append(names, m.Name+"."+inner)
			}
		case before[i].Value != m.Value:
			names = append(names, m.Name)
		}
	}

	for _, m := range before {
		if !slices.ContainsFunc(after, func(o wire.Member) bool { return o.Name == m.Name }) {
			names = append(names, m.Name)
		}
	}

	return names
}

// textMembers returns the members of the JSON object in text.
func textMembers(text string) (all []wire.Member) {
	r := wire.NewReader(text, 0)
	r.Object(func(name string) { all = append(all, wire.Member{Name: name, Value: r.Value()}) })
	return all
}

func isObject(text string) bool { return strings.HasPrefix(text, "{") }
