package group_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/invariants"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// world is what happens around a group: processes that run, beat, hang and die, passes that are
// killed half way, reboots.
type world struct {
	t *testing.T

	strategy policy.Strategy // of the group
	limit    *policy.Limit
	auto     *policy.AutoShutdown
	rand     *rand.Rand
	g        group.Group
	seen     observe.Observation
	procs    map[int]*proc
	next     int
	file     []int64              // numbers in the alerts file
	failed   map[string]time.Time // when the registry said so last
	log      []string
	well     bool // nothing fails any more

	rested    int // services that passes have left alone, because of a maintenance
	forecasts int // passes whose forecast was compared
}

// proc is a process with all it has started: it is over when leader and others are gone.
type proc struct {
	service              string
	process              observe.Process
	leader, others       bool
	hung, deafToTerm     bool
	startedAs, startedBy int // attempt; 0: by itself, 1: by a pass
}

func (p *proc) alive() bool { return p.leader || p.others }

// startID is another one for every process.
func (p *proc) startID() string { return fmt.Sprintf("%016x", p.process.PID) }

var walkers = []string{"a", "b", "c", "d"}

// TestGroupWalk holds random histories against what must never happen: two live copies of a
// service, a live one that the registry does not know, a restart before its backoff or beyond the
// last attempt, an alert that is lost or told twice, a service that stays down for no reason.
func TestGroupWalk(t *testing.T) {
	forecasts, rested := 0, 0
	for seed := range walks(t) {
		w := newWorld(t, seed)
		for range 60 {
			w.step()
			if t.Failed() {
				t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(w.log, "\n"), w.g.Registry.Encode())
			}
		}

		w.settle()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(w.log, "\n"), w.g.Registry.Encode())
		}
		forecasts += w.forecasts
		rested += w.rested
	}

	t.Logf("%d passes did what --why had said", forecasts)
	if testing.Short() {
		return
	}
	if rested < 300 {
		t.Errorf("only %d services were in a maintenance", rested)
	}
	if forecasts < 10_000 {
		t.Errorf("only %d forecasts were compared with passes", forecasts)
	}
}

// walks returns how many histories are walked: $DPL_WALKS, see make soak, or what takes some
// seconds, with -short half a second.
func walks(t *testing.T) uint64 {
	most := "400"
	if testing.Short() {
		most = "20"
	}
	n, err := strconv.ParseUint(cmp.Or(os.Getenv("DPL_WALKS"), most), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 0)), g: group.Create("g"),
		strategy: []policy.Strategy{"", policy.OneForAll, policy.RestForOne}[seed%3],
		limit: []*policy.Limit{nil, nil,
			{Intensity: 2, Period: 2 * time.Minute, OnIntensity: policy.Park},
			{Intensity: 1, Period: time.Minute, OnIntensity: policy.Delay},
			{Intensity: 3, Period: time.Minute, OnIntensity: policy.Escalate}}[seed/3%5],
		auto: []*policy.AutoShutdown{nil, nil, nil, new(policy.ShutdownAny),
			new(policy.ShutdownAll)}[seed/7%5],
		procs: make(map[int]*proc), failed: make(map[string]time.Time), next: 100}
	w.seen = observe.Observation{
		Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), MonotonicMs: 1000,
		Host: observe.Host{ID: "h", BootID: "boot0", PIDNamespace: "1",
			BootedAt: time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)},
		Look: func(p observe.Process) observe.Presence {
			q := w.procs[p.PID]
			return vectors.Presence(q == nil || !q.leader || q.process != p)
		},
		Survived: func(leader observe.Process, startID string, _ observe.Process) bool {
			p := w.procs[leader.PID]
			return p != nil && p.others && !p.leader && p.startedBy == 1 && startID == p.startID()
		},
	}

	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.seen.Now.Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) pick() string            { return walkers[w.rand.IntN(len(walkers))] }
func (w *world) once(in int) bool        { return w.rand.IntN(in) == 0 }
func (w *world) alive(id string) []*proc { return w.of(id, (*proc).alive) }

func (w *world) of(id string, is func(*proc) bool) (all []*proc) {
	for _, p := range w.procs {
		if p.service == id && is(p) {
			all = append(all, p)
		}
	}
	return all
}

func (w *world) step() {
	switch id := w.pick(); w.rand.IntN(12) {
	case 0:
		w.register(id)
	case 1, 2:
		w.tick(time.Duration(w.rand.IntN(30_000)) * time.Millisecond)
	case 3:
		w.die(id)
	case 4:
		for _, p := range w.of(id, (*proc).alive) {
			p.hung, p.deafToTerm = true, w.once(2)
			w.note("%s hangs", id)
		}
	case 5:
		switch w.rand.IntN(8) {
		case 0, 1:
			only := w.once(3)
			err := w.verb(func(g group.Group) (group.Group, error) {
				return g.Shutdown(id, "t", only, nil, w.seen)
			})
			w.note("shutdown %s: %v", id, err)
		case 2, 3:
			only, again := w.once(3), []string(nil)
			err := w.verb(func(g group.Group) (after group.Group, err error) {
				after, again, err = g.Restart(id, "t", only, nil, w.seen)
				return after, err
			})
			w.note("restart %s: %v, %v", id, again, err)
		case 4, 5:
			d := time.Duration(w.rand.IntN(3)) * 5 * time.Minute
			w.note("maintain %s for %v: %v", id, d, w.verb(func(g group.Group) (group.Group, error) {
				return g.Maintain(id, "t", d, w.seen)
			}))
		case 6:
			d := time.Duration(w.rand.IntN(3)) * 5 * time.Minute
			w.note("silence %s for %v: %v", id, d, w.verb(func(g group.Group) (group.Group, error) {
				return g.Silence(id, "t", d, w.seen)
			}))
		}
	case 6:
		if w.once(5) {
			w.reboot()
		}
	case 7:
		if w.once(3) {
			w.registerAll()
			break
		}

		err := w.verb(func(g group.Group) (group.Group, error) {
			return g.Remove(id, "t", w.seen)
		})
		if err == nil && len(w.alive(id)) > 0 {
			w.t.Errorf("%s is removed and runs", id)
		}
	case 8:
		if w.once(3) {
			w.note("resume: %v", w.verb(func(g group.Group) (group.Group, error) {
				return g.Resume("t", w.seen)
			}))
			break
		}
		w.tick(10 * time.Minute)
	default:
		w.pass(w.rand.IntN(6))
	}

	w.check()
}

// verb makes a verb of the group.
func (w *world) verb(verb func(g group.Group) (group.Group, error)) (err error) {
	w.g, err = invariants.Check(w.t.Errorf, w.g, verb)
	return err
}

func (w *world) register(id string) {
	others := slices.DeleteFunc(slices.Clone(walkers),
		func(other string) bool { return other == id || w.once(2) })
	r := group.Registration{Service: id, By: "t", Request: w.once(2), Fresh: w.once(20)}
	if w.once(3) {
		others = nil
	}
	if w.once(2) {
		r.Dependencies = &others
	}

	if w.once(3) {
		r.Restart = []policy.RestartType{policy.Permanent, policy.Transient,
			policy.Temporary}[w.rand.IntN(3)]
	}
	if r.Restart == policy.Transient || r.Restart == policy.Temporary {
		r.Significant = new(w.once(2))
	}
	if w.once(8) {
		r.OnDead = new(policy.OnDeadEscalate)
	}
	r.Resume = w.once(3)
	if w.once(5) {
		completed := []string{w.pick()}
		r.DependenciesCompleted = &completed
	}

	if r.Request || w.once(2) {
		limits := policy.DefaultPolicy()
		limits.MaxAttempts = w.rand.IntN(4)
		r.StartInfo = &group.StartInfo{Command: "x", Dir: "/", Readiness: observe.ReadinessReady,
			Policy: limits, LogKeep: 1}
		if w.once(3) {
			r.StartInfo.RuntimeMax = time.Duration(1+w.rand.IntN(20)) * time.Minute
		}
		r.StartInfo.ExitStatus.Persistent = []string{"3"}
	}

	if !r.Request && len(w.alive(id)) == 0 {
		p := w.spawn(id, 0, 0)
		r.PID, r.Process = p.process.PID, p.process
		defer func() { p.leader = w.g.Service(id) != nil && w.g.Service(id).PID == r.PID }()
	}

	err := w.verb(func(g group.Group) (group.Group, error) { return g.Register(r, w.seen) })
	w.note("register %s %v %v: %v", id, r.Request, others, err)
}

// registerAll registers some services from a file, and now and then again: then nothing changes.
func (w *world) registerAll() {
	r := group.FileRegistration{By: "t", Prune: w.once(2)}
	for i, id := range walkers {
		if w.once(2) {
			continue
		}
		d := group.Declaration{ID: id, ServiceSpec: group.ServiceSpec{Restartable: true,
			Restart: policy.Permanent, KillTimeout: time.Duration(w.rand.IntN(2)) * time.Second}}
		d.StartInfo = &group.StartInfo{Command: "x", Dir: "/", LogKeep: 1,
			Readiness: observe.ReadinessReady, Policy: policy.DefaultPolicy()}
		if i > 0 && w.once(2) {
			d.Dependencies = []string{walkers[i-1]}
		}
		r.File.Services = append(r.File.Services, d)
	}
	if w.once(2) {
		r.File.Supervision = &group.Supervision{Strategy: []policy.Strategy{"", policy.OneForOne,
			policy.OneForAll, policy.RestForOne}[w.rand.IntN(4)]}
	}

	err := w.verb(func(g group.Group) (after group.Group, err error) {
		after, _, err = g.RegisterAll(r, w.seen)
		return after, err
	})
	w.note("register a file of %d, prune %v: %v", len(r.File.Services), r.Prune, err)
	if err != nil {
		return
	}

	again, _, err := w.g.RegisterAll(r, w.seen)
	if err != nil || again.Registry.Revision != w.g.Registry.Revision {
		w.t.Errorf("registering a file again changes the group: %v", err)
	}
}

func (w *world) spawn(id string, attempt, by int) *proc {
	w.next++
	p := &proc{service: id, leader: true, startedAs: attempt, startedBy: by, process: observe.Process{
		PID: w.next, HostID: w.seen.Host.ID, BootID: w.seen.Host.BootID,
		PIDNamespace: w.seen.Host.PIDNamespace, StartTicks: int64(w.next),
	}}
	w.procs[w.next] = p
	return p
}

func (w *world) tick(d time.Duration) {
	w.seen.Now = w.seen.Now.Add(d)
	w.seen.MonotonicMs += d.Milliseconds()
	for _, id := range walkers {
		w.beat(id)
	}
}

func (w *world) beat(id string) {
	for _, p := range w.of(id, func(p *proc) bool { return p.leader && !p.hung }) {
		w.verb(func(g group.Group) (after group.Group, err error) {
			after, _, err = g.BeatService(group.ServiceProcess{Service: id, PID: p.process.PID,
				Process: p.process}, observe.Report{}, w.seen)
			return after, err
		})
	}
}

func (w *world) die(id string) {
	for _, p := range w.alive(id) {
		p.leader, p.others = false, p.startedBy == 1 && w.once(3)
		w.note("%s dies, leaving others: %v", id, p.others)
		if w.once(2) {
			w.tellEnd(id, p)
		}
	}
}

// tellEnd reports how p, a process of the service id, ended.
func (w *world) tellEnd(id string, p *proc) {
	status := []int{0, 1, 3, 64, 75}[w.rand.IntN(5)]
	w.note("%s had status %d", id, status)
	end := group.ServiceProcess{Service: id, PID: p.process.PID, Process: p.process}
	w.verb(func(g group.Group) (group.Group, error) {
		return g.EndService(end, policy.Exit{Code: policy.CodeExited, Status: status}, w.seen)
	})
}

func (w *world) reboot() {
	w.procs = make(map[int]*proc)
	w.seen.Now = w.seen.Now.Add(time.Minute)
	w.seen.Host.BootID += "+"
	w.seen.Host.BootedAt = w.seen.Now.Add(-time.Second)
	w.seen.MonotonicMs = 1000
	w.note("reboot")
}

// completes is the point of a pass that is not killed.
const completes = 4

// pass makes a pass that is killed at point: 0 before the first commit, 1 before anything is
// released, 2 before the alerts are appended, 3 before the last commit; else it is not.
func (w *world) pass(point int) {
	request := plan.Request{Owner: "me", PID: 1}
	if w.g.Registry.Owner == "" { // then they are recorded
		request.Strategy, request.Limit, request.AutoShutdown = w.strategy, w.limit, w.auto
	}
	d, err := plan.Pass(w.g, request, w.seen)
	if err != nil {
		w.t.Fatal(err)
	}
	if checkForecast(w.t, w.g, request, d, w.seen) {
		w.forecasts++
	}
	var started []*proc

	for _, a := range d.Actions {
		if a, starts := a.(plan.Start); starts {
			p := w.spawn(a.ServiceID, a.Attempt, 1)
			d.Spawned(a.ServiceID, plan.Spawned{PID: p.process.PID, Process: p.process,
				StartID: p.startID()})
			p.leader = false // it waits at the gate
			started = append(started, p)
		}
	}

	w.note("pass %d: %v", point, d.Actions)
	before := w.g
	if point == 0 {
		w.verb(func(group.Group) (group.Group, error) { return d.Group(), nil })
		w.g = before // it is not committed
		return
	}

	w.commit(d.Group())
	if w.g.Registry.Supervision.End.State != group.GroupRunning && len(started) > 0 {
		w.t.Errorf("a group that ends starts %d services", len(started))
	}
	w.checkBackoff(d, before)
	w.checkMaintenance(d, before)
	if point == 1 {
		return
	}

	for _, a := range d.Actions {
		if a, signals := a.(plan.Signal); signals {
			w.signal(a)
		}
	}

	result := plan.Result{Failed: make(map[string]group.StartFailure)}
	for _, p := range started {
		if others := w.alive(p.service); len(others) > 0 {
			w.t.Errorf("%s is started beside a live one", p.service)
		}

		if !w.well && w.once(8) {
			result.Failed[p.service] = group.StartFailure{Cause: "no such file"}
			if w.once(2) {
				result.Failed[p.service] = group.StartFailure{Cause: "no memory", Class: policy.Tempfail}
			}
			continue
		}

		p.leader = true
		result.Started = append(result.Started, p.service)
	}

	if point == 2 {
		return
	}

	result.Appended = w.append()
	if point == 3 {
		return
	}

	w.commit(plan.Record(w.g, "me", result, w.seen))
}

// commit makes g the group, now and then as its file says, and takes note of the failures that it
// tells of.
func (w *world) commit(g group.Group) {
	for _, e := range g.Registry.Events {
		if e.Revision > w.g.Registry.Revision && e.To == string(group.StateFailed) {
			w.failed[e.SupervisorID] = e.At
			if s := g.Service(e.SupervisorID); s != nil {
				w.failed[e.SupervisorID] = s.LastExit.At
			}
		}
	}

	w.verb(func(group.Group) (group.Group, error) { return g, nil })
	if !w.once(10) {
		return
	}

	text := g.Registry.Encode()
	decoded, err := group.DecodeRegistry(text)
	if err != nil || decoded.Encode() != text {
		w.t.Errorf("does not survive its file: %v", err)
	}

	w.g.Registry = decoded
}

// checkBackoff checks that none is started again before its wait is over.
func (w *world) checkBackoff(d *plan.Decision, before group.Group) {
	for _, a := range d.Actions {
		a, starts := a.(plan.Start)
		if !starts {
			continue
		}

		was, is := before.Service(a.ServiceID), w.g.Service(a.ServiceID)
		w.checkBarrier(a.ServiceID, before)
		if was.State.Final() {
			w.t.Errorf("%s is started, which is %s", a.ServiceID, was.State)
		}
		if is.Restart == policy.Temporary && is.LastRestartAttempt != was.LastRestartAttempt &&
			!was.RestartPending { // it may have become temporary since that was decided
			w.t.Errorf("%s is restarted, which is temporary", a.ServiceID)
		}
		if tempfail := is.LastExit != nil && is.LastExit.Class == policy.Tempfail; tempfail &&
			is.Retries > was.Retries && w.seen.Now.Sub(is.LastExit.At) < time.Second {
			w.t.Errorf("%s is tried again at once", a.ServiceID)
		}
		if a.Attempt <= was.RestartAttempts {
			continue
		}

		backoff := policy.DefaultBackoff()
		if earliest := w.failed[a.ServiceID].Add(backoff[min(a.Attempt,
			len(backoff))-1]); w.seen.Now.Before(earliest) {
			w.t.Errorf("attempt %d of %s is made before %v", a.Attempt, a.ServiceID, earliest)
		}
		if most := w.g.Service(a.ServiceID).StartInfo.Policy.MaxAttempts; a.Attempt > most &&
			!was.RestartPending {
			w.t.Errorf("attempt %d of %s is made, of %d", a.Attempt, a.ServiceID, most)
		}
	}
}

// checkBarrier checks that id does not start while anything of its set is left.
func (w *world) checkBarrier(id string, before group.Group) {
	set := before.Registry.Supervision.Set
	if !slices.Contains(set, id) {
		return
	}
	for _, other := range set {
		was := before.Service(other)
		waits := was.State == group.StateRegistered || was.State == group.StateWaiting
		if n := len(w.alive(other)); n > 0 && !waits && !was.Maintenance.On(w.seen.Now) {
			w.t.Errorf("%s starts while %s, which is in its set, has %d live processes", id, other, n)
		}
	}
}

// checkMaintenance checks that the pass d leaves services alone that are in a maintenance, unless
// somebody has asked for a stop or a restart.
func (w *world) checkMaintenance(d *plan.Decision, before group.Group) {
	for i := range before.Registry.Services {
		was := &before.Registry.Services[i]
		waits := was.State == group.StateRegistered || was.State == group.StateWaiting
		if !was.Maintenance.On(w.seen.Now) || was.State == group.StateShuttingDown ||
			waits && was.Maintenance.Start {
			continue
		}

		w.rested++
		is := w.g.Service(was.ID)
		if is.State != was.State || fmt.Sprint(is.LastExit) != fmt.Sprint(was.LastExit) ||
			is.PID != was.PID ||
			is.RestartAttempts != was.RestartAttempts || len(is.Restarts) != len(was.Restarts) {
			w.t.Errorf("a pass changes %s, which is in a maintenance: %+v, was %+v", was.ID, is, was)
		}
		for _, a := range d.Actions {
			start, starts := a.(plan.Start)
			signal, signals := a.(plan.Signal)
			if starts && start.ServiceID == was.ID || signals && signal.ServiceID == was.ID {
				w.t.Errorf("a pass acts on %s, which is in a maintenance: %+v", was.ID, a)
			}
		}
	}
}

// append brings the pending alerts to the file, as AppendAlerts of fileops does.
func (w *world) append() int64 {
	last := int64(len(w.file))
	for _, a := range w.g.Registry.PendingAlerts {
		if a.Seq > last {
			w.file = append(w.file, a.Seq)
			last = a.Seq
		}
	}
	return last
}

func (w *world) signal(a plan.Signal) {
	p := w.procs[a.PID]
	switch {
	case p == nil || p.process != a.Process:
	case a.Name == group.Kill || !p.deafToTerm:
		switch a.To {
		case plan.ToSurvivors:
			p.others = false
		default:
			p.leader = false
		}
	}
}

func (w *world) check() {
	for _, id := range walkers {
		live := w.alive(id)
		if len(live) > 1 {
			w.t.Errorf("%s has %d live processes", id, len(live))
		}

		for _, p := range live {
			if s := w.g.Service(id); s == nil || s.PID != p.process.PID {
				w.t.Errorf("%s runs as %d, which the registry does not know", id, p.process.PID)
			}
		}
	}

	for i, seq := range w.file {
		if seq != int64(i)+1 {
			w.t.Errorf("alert %d is in line %d", seq, i+1)
		}
	}
}

// settle lets everything be well for a while. Then what can run does.
func (w *world) settle() {
	w.well = true
	for range 30 {
		for _, p := range w.procs {
			p.hung, p.deafToTerm = false, false
		}
		for range 13 {
			w.tick(5 * time.Second)
		}
		w.pass(completes)
		w.check()
	}

	for range len(walkers) { // a clock may have restarted a set just now, with a pass per dependency
		w.tick(time.Second)
		w.pass(completes)
		w.check()
	}

	if w.append() != w.g.Registry.AlertSeq {
		w.t.Errorf("%d alerts in the file, %d raised", len(w.file), w.g.Registry.AlertSeq)
	}

	for i := range w.g.Registry.Services {
		s := &w.g.Registry.Services[i]
		blocked := slices.ContainsFunc(s.Dependencies,
			func(d string) bool { return !w.g.Ready(d, w.seen) }) ||
			slices.ContainsFunc(s.DependenciesCompleted, func(d string) bool {
				on := w.g.Service(d)
				return on == nil || on.State != group.StateCompleted
			})
		switch {
		case s.State == group.StateRunning &&
			len(w.alive(s.ID)) == 1, s.State.Final(), s.State == group.StateWaiting && blocked:
		case s.StartInfo != nil && s.StartInfo.RuntimeMax != 0: // its clock may just be over
		default:
			w.t.Errorf("%s is %s in the end, with %d live processes", s.ID, s.State,
				len(w.alive(s.ID)))
		}
	}
}
