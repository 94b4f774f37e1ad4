package plan

import (
	"cmp"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A course is what a pass does about one service: steps in order.
type course struct {
	id    string
	steps []step
}

// A planner turns the judgements of a pass into courses. It changes nothing. Its methods are the
// rules of spec §11.3.
type planner struct {
	g        group.Group // as it was, with the graces of the pass
	seen     observe.Observation
	judged   judgements
	failover bool
	restarts []time.Time       // the charges of the group that still count, with those of this pass
	parked   map[string]bool   // services that this pass gives up for the intensity of the group
	set      set               // what restarts together
	end      group.GroupEnd    // of the group
	planned  map[string]course // as far as they have been asked for, given all of the above
	room     *int              // how many starts the pass may make; nil: any number
	started  []string          // services that earlier rounds have started
	later    int               // how many starts it leaves to the next one
}

// plan returns the courses of all services, in order. All services have been
// judged, and none has been stopped or started yet, so each course may depend on all judgements.
// A start also depends on the courses of the dependencies, and a stop on those of the dependents.
// What is charged to the group, and which services restart together, depend on what each would do
// by itself.
func (p *planner) plan() []course {
	alone := p.each()
	if p.ends() {
		return alone
	}
	if p.count(alone) {
		alone = p.each()
	}

	plan := alone
	if p.set = p.gather(alone); len(p.set.members) > 0 {
		plan = p.each()
	}
	if p.decideEnd(plan) {
		p.set = set{}
		return p.each()
	}
	return p.limit(p.once(p.admit(plan)))
}

// each returns the course of each service, given the set.
func (p *planner) each() []course {
	p.planned = make(map[string]course)
	var all []course
	for _, id := range p.g.Registry.Ordered() {
		all = append(all, p.course(id))
	}
	return all
}

// course returns the course of the service id. It has no steps yet if a rule asks for it on the way
// to it, because services depend on each other in a circle.
func (p *planner) course(id string) course {
	if c, asked := p.planned[id]; asked {
		return c
	}

	p.planned[id] = course{id: id}
	c := course{id, p.rule(p.judged[id])}
	p.planned[id] = c
	return c
}

// rule returns the steps of a service according to its state.
func (p *planner) rule(j judgement) []step {
	switch {
	case j.Service.LeftAlone(p.seen.Now), j.Unread:
		return nil
	case j.Awaited:
		return []step{await{}}
	}
	if p.ends() && !j.Service.State.Final() {
		return p.windDown(j)
	}

	switch j.Service.State {
	case group.StateRunning:
		return p.running(j)
	case group.StateRegistered, group.StateWaiting:
		return p.waiting(j, "registered")
	case group.StateFailed, group.StateScheduled:
		return p.failed(j, j.Service.FailedAt)
	case group.StateShuttingDown:
		return p.shuttingDown(j)
	case group.StateCompleted:
		if p.runsAgain(j.Service) {
			return p.runAgain(j)
		}
	}

	return nil
}

// then returns first followed by rest.
func then(first step, rest []step) []step { return append([]step{first}, rest...) }

func (p *planner) running(j judgement) []step {
	switch s := j.Service; {
	case s.Starting && j.Gone:
		return then(loseStart{}, p.waiting(j, "startLost"))
	case j.failure != nil:
		return p.fail(j, j.failure)
	case j.Evidence == observe.Rebooted:
		return then(reboot{}, p.waiting(j, string(observe.Rebooted)))
	}

	if p.set.members[j.Service.ID] {
		return p.standBy(j)
	}

	steps := []step{carryOn{alive: j.Alive, unbegun: j.Unbegun}}
	for _, clock := range j.asks {
		steps = append(steps, nudge{clock})
	}
	if j.Service.IsGroup() {
		return append(steps, p.showing(j)...)
	}
	steps = append(steps, j.pauseSignal()...)
	return append(steps, j.softSignal(j.asks)...)
}

// fail makes a service fail as was judged, and continues with the steps that follow.
func (p *planner) fail(j judgement, f *group.Failure) []step {
	if p.parked[j.Service.ID] && f.StopFor != nil {
		f = f.Then(group.ThenPark)
	}

	j.Service = f.After
	if f.After.Completes() {
		return p.complete(j, f)
	}
	return then(fail{f}, p.failed(j, f.After.FailedAt))
}

// waiting is the rule of registered and waitingForDependencies. firstReason is the reason for the
// start if it is not a restart.
func (p *planner) waiting(j judgement, firstReason string) []step {
	if !p.dependenciesReady(j.Service) {
		return []step{p.wait(j.Service)}
	}

	var next []step
	switch {
	case j.Alive, j.Heard:
		next = []step{adopt{}}
	case j.Service.StartInfo != nil:
		next = p.start(j, j.Service.RestartPending, firstReason)
	default:
		next = p.fail(j, j.FailAs(cmp.Or(j.Evidence, observe.Exited), p.seen, p.failover))
	}

	return then(unblock{}, next)
}

// blockedElsewhere is why a service is not started whose process may live on another host.
const blockedElsewhere = "process elsewhere"

// anotherLives is why a service is not started that has another start, with the process that
// follows.
const anotherLives = "another start lives: "

// kept returns a living process of a start of the service id that the registry does not know, or 0.
func (p *planner) kept(id string) int {
	if p.seen.Kept == nil {
		return 0
	}
	return p.seen.Kept(p.g.ID, id, p.g.Service(id).StartID)
}

// start starts a service, after stopping what is left of its last start.
func (p *planner) start(j judgement, restart bool, firstReason string) []step {
	switch {
	case j.Foreign && !p.failover:
		return []step{block{blockedElsewhere}}
	case j.Held(p.seen):
		return p.stop(j)
	case p.barred(j.Service):
		return nil
	}
	if j.Service.IsGroup() {
		return p.beginGroup(j, restart, firstReason)
	}
	if pid := p.kept(j.Service.ID); pid != 0 {
		return []step{block{anotherLives + strconv.Itoa(pid)}}
	}
	return []step{start{restart, firstReason, 0}}
}
