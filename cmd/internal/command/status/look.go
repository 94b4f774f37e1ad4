package status

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/show/metrics"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// A subject is what to show: an operation, a group, a queue, the calls of a supervisor, or, if all
// are "", all operations, groups and queues, unless only one kind is asked for.
type subject struct {
	op, run, supervisor, group, service, queue string // run is the beginning of an id
	onlyGroups, onlyQueues                     bool

	// What has ended is listed if it has failed since a time, or all of it.
	since time.Time
	all   bool
}

// lately is how long ago what has failed is still listed.
const lately = 24 * time.Hour

// A picture is a subject as it is now: its operations, groups and queues that can be read, and an
// error for each other one.
type picture struct {
	subject
	ops      []model.Operation
	past     []model.Operation // the runs in the archive that are listed, the newest first
	archived int               // number of other runs in the archive
	groups   []model.Group
	queues   []model.Queue
	tasks    []model.Task // of the one queue, for JSON
	warnings []error
	missing  metrics.Unreadable // how many warnings there are of each kind
}

// look reads the subject. It returns an error if the one operation, group, service or queue is not
// there.
func (s *reporter) look(what subject) (p picture, err error) {
	p.subject = what
	switch {
	case what.queue != "":
		q, err := s.readQueue(what.queue)
		if err == nil {
			q.Report, err = s.newestReport(q.ID)
		}
		p.queues = []model.Queue{q}
		if err == nil && s.machine() {
			p.tasks, err = s.tasks(&p.queues[0])
		}
		return p, err
	case what.onlyQueues:
		return p, s.readQueues(&p)
	case what.group != "":
		g, err := s.readGroup(what.group, what.service)
		p.groups = []model.Group{g}
		if err == nil && what.service == "" {
			s.readBelow(&p, g)
		}
		return p, err
	case what.op != "":
		op, err := s.readRun(what.op, what.run)
		p.ops = []model.Operation{op}
		return p, err
	case !what.onlyGroups:
		err = s.readAll(&p)
	}

	if err == nil && what.supervisor == "" {
		err = s.readGroups(&p)
	}
	if err == nil && what.supervisor == "" && !what.onlyGroups {
		err = s.readQueues(&p)
	}
	return p, err
}

// read returns the operation id, which may be archived.
func (s *reporter) read(id string) (op model.Operation, err error) {
	op.Operation, op.Archived, err = s.ledger.ReadOperation(id)
	if err != nil {
		return op, cli.Named("status", id, "", err)
	}
	op.Seen, _ = s.ledger.ObserveOperation(op.Operation, s.clock())
	return op, nil
}

// readAll adds all operations that are not archived to p.
func (s *reporter) readAll(p *picture) error {
	ids, err := s.ledger.IDs()
	for _, id := range ids {
		op, err := s.read(id)
		switch {
		case op.Archived || errors.Is(err, fileops.ErrNotFound):
		case err != nil:
			p.miss(&p.missing.Operations, err)
		default:
			p.ops = append(p.ops, op)
		}
	}
	if err != nil || p.supervisor != "" {
		return err
	}
	return s.readPast(p)
}

// readGroup returns the group id. It returns ErrNoService if service is not "" and not in the
// group.
func (s *reporter) readGroup(id, service string) (g model.Group, err error) {
	if g.Group, g.Seen, err = s.ledger.WitnessGroup(id, s.clock); err == nil && service != "" &&
		g.Service(service) == nil {
		err = group.ErrNoService
	}
	if err != nil {
		return g, cli.Named("status", id, service, err)
	}

	g.LogPath = func(service string) string { return s.ledger.LogPath(id, service) }
	return g, nil
}

// readBelow adds the groups to p that are services of g, and those below them, each after its
// parent. One that has yet to begin is not there.
func (s *reporter) readBelow(p *picture, g model.Group) {
	for _, link := range g.Links() {
		if slices.ContainsFunc(p.groups, func(g model.Group) bool { return g.ID == link.Child }) {
			continue
		}
		switch child, err := s.readGroup(link.Child, ""); {
		case errors.Is(err, fileops.ErrNoGroup):
		case err != nil:
			p.miss(&p.missing.Groups, err)
		default:
			p.groups = append(p.groups, child)
			s.readBelow(p, child)
		}
	}
}

// readGroups adds all groups to p.
func (s *reporter) readGroups(p *picture) error {
	ids, err := s.ledger.Groups()
	for _, id := range ids {
		if g, err := s.readGroup(id, ""); err != nil {
			p.miss(&p.missing.Groups, err)
		} else {
			p.groups = append(p.groups, g)
		}
	}
	return err
}

// miss counts something that cannot be read.
func (p *picture) miss(kind *int, err error) {
	*kind++
	p.warnings = append(p.warnings, err)
}

// supervised returns the calls of the supervisor, sorted by handle.
func (p picture) supervised() (calls []model.Call) {
	for _, op := range p.ops {
		for _, c := range op.Calls() {
			if c.SupervisorID == p.supervisor {
				calls = append(calls, c)
			}
		}
	}

	slices.SortStableFunc(calls, func(a, b model.Call) int {
		return cmp.Compare(cmp.Or(a.SupervisorHandle, "-"), cmp.Or(b.SupervisorHandle, "-"))
	})
	return calls
}
