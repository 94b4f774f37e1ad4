package group

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Shutdown returns g after the request to stop a service and the running ones that depend on it
// (groups.md §10.4). First it takes in what exit says of ends that no pass has seen. It returns
// ErrNoService, and with only, ErrHasDependents if running services depend on it.
func (g Group) Shutdown(service, by string, only bool, exit ExitLookup, seen observe.Observation) (
	Group, error,
) {
	d := g.Begin("shutdown", by, seen)
	if d.Service(service) == nil {
		return g, ErrNoService
	}

	d.takeEnds(exit, append([]string{service}, g.Registry.dependents(service)...))
	below := d.Group.RunningDependents(service)
	if only && len(below) > 0 {
		return g, ErrHasDependents
	}
	stop := map[string]string{service: ""}
	for _, id := range below {
		stop[id] = service
	}
	return d.shutDownAll(stop)
}

// RunningDependents returns the services that Shutdown also stops, in order: those that run, or
// will again, and depend on the service, directly or through others.
func (g Group) RunningDependents(service string) []string {
	return slices.DeleteFunc(g.Registry.dependents(service), func(id string) bool {
		s := g.Service(id)
		return s.State != StateRunning && !s.StartAgain
	})
}

// StoppedDependents returns the services that depend on the service and are stopped, in order, as
// far as a restart can start them. No restart of another service does.
func (g Group) StoppedDependents(service string) []string {
	return slices.DeleteFunc(g.Registry.dependents(service), func(id string) bool {
		s := g.Service(id)
		return s.State != StateStopped || s.StartInfo == nil
	})
}

// ShutdownAll returns g after the request to stop all services (§10.4). It takes in ends as
// Shutdown does, and returns ErrExhausted.
func (g Group) ShutdownAll(by string, exit ExitLookup, seen observe.Observation) (Group, error) {
	d := g.Begin("shutdown", by, seen)
	d.takeEnds(exit, nil)
	all := make(map[string]string)
	for _, id := range g.Registry.Ordered() {
		all[id] = ""
	}
	return d.shutDownAll(all)
}

// shutDownAll stops the services of stop, which says together with which one, or "".
func (d *Draft) shutDownAll(stop map[string]string) (Group, error) {
	for _, id := range d.Group.Registry.Ordered() {
		if with, stops := stop[id]; stops {
			d.shutDown(d.Service(id), with)
		}
	}
	return d.end()
}

// ShuttingDown returns the services that have not stopped yet, or that have done their work and
// left processes behind, in the order in which they stop: the first is the one that the others wait
// for (§11.3). It considers the given service and its dependents, or all services if service
// is "".
func (g Group) ShuttingDown(service string) []string {
	ids := g.Registry.leavesFirst()
	if service != "" {
		below := append(g.Registry.dependents(service), service)
		ids = slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(below, id) })
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		s := g.Service(id)
		return s.State != StateShuttingDown && !s.DidItsWork()
	})
}

// Outlives returns a process of the service s that lives although s is stopped: the recorded one,
// which another observer could not check, or that of another start, which a restored registry does
// not know. It returns 0 if the observer finds none.
func (g Group) Outlives(s *Service, seen observe.Observation) int {
	switch {
	case s.State != StateStopped, s.IsGroup():
		return 0
	case s.PID != 0 && seen.Checks(s.Vitals):
		return s.PID
	case seen.Kept == nil:
		return 0
	}
	return seen.Kept(g.ID, s.ID, s.StartID)
}

// shutDown stops s, together with the service with if that is not "".
func (d *Draft) shutDown(s *Service, with string) {
	s.StartAgain, s.Maintenance = false, s.Maintenance.With(false)
	switch {
	case s.State == StateCompleted, s.DidItsWork(),
		s.State == StateStopped && d.Group.Registry.Supervision.End.State == GroupRunning:
		return
	case s.State == StateStopped: // its group ended: now it also stays so when that runs again
	case !d.mayRun(s) && s.RemoveAfterStop:
		d.Remove(s)
		return
	case !d.mayRun(s):
		d.stopped(s)
	case with != "":
		d.AskToStop(s, "dependency: "+with, with)
	default:
		d.AskToStop(s, "", "")
	}
	s.StoppedBy = cmp.Or(s.StoppedBy, d.by)
}

// AskToStop lets passes stop s (§10.4), unless they already do, because of the service cause,
// if that is not "".
func (d *Draft) AskToStop(s *Service, reason, cause string) {
	if s.State != StateShuttingDown {
		d.SetStateFor(s, StateShuttingDown, reason, cause)
		s.StopRequestedAt = d.Seen.Now
		s.ForgetFailure()
	}
}
