package group_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/invariants"
	"github.com/dpl-project/dpl/testscripts/vectors"
	"pgregory.net/rapid"
)

// Passes may be rare or frequent: what is charged for deaths, and what comes of them, follows from
// the times of the deaths alone.

// After a death, each schedule has passes in a certain time. By then, what is to be started again
// has been, and a service that dies later has run for at least runs.
const (
	restartsIn = 30 * time.Second // more than each backoff, and each delay of a group
	within     = 5 * time.Second
	runs       = 5 * time.Second
	apart      = restartsIn + within + runs
)

// A fate is the services of a group, and the deaths that they die.
type fate struct {
	services []group.Registration
	strategy policy.Strategy
	limit    *policy.Limit
	auto     *policy.AutoShutdown
	deaths   []mishap
	spread   bool // all deaths are apart, and not only those of one service
}

// A mishap is the end of the process that a service has at that time, if it has one.
type mishap struct {
	at      time.Duration
	service string
	status  int
}

func (m mishap) String() string { return fmt.Sprintf("%v %s: %d", m.at, m.service, m.status) }

// TestPassSchedules compares what comes of the same deaths under several schedules of passes
// (spec §11.9). With one_for_one and a limit that gives up, deaths of different services may come in
// any order and time. Otherwise all are apart: rare passes let two deaths open one set, which is one
// charge, and frequent ones let each open its own.
func TestPassSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFate(t)
		rare := f.play(t, nil)
		for _, name := range []string{"some", "more"} {
			extra := rapid.SliceOfN(rapid.Int64Range(0, f.end().Milliseconds()), 0,
				30).Draw(t, name+" passes")
			if got := f.play(t, extra); got != rare {
				t.Fatalf("deaths %v\nwith passes as rare as can be:\n%s\nwith more:\n%s", f.deaths,
					rare, got)
			}
		}
	})
}

func drawFate(t *rapid.T) fate {
	f := fate{strategy: rapid.SampledFrom([]policy.Strategy{policy.OneForOne, policy.OneForOne,
		policy.OneForAll, policy.RestForOne}).Draw(t, "strategy")}
	f.spread = f.strategy != policy.OneForOne
	switch rapid.IntRange(0, 3).Draw(t, "limit") {
	case 1:
		f.limit = &policy.Limit{Intensity: 1, Period: 100 * time.Second, OnIntensity: policy.Park}
	case 2:
		f.limit = &policy.Limit{Intensity: 1, Period: 20 * time.Second, OnIntensity: policy.Delay}
		f.spread = true
	case 3:
		f.limit = &policy.Limit{Intensity: 2, Period: 200 * time.Second, OnIntensity: policy.Escalate}
		f.spread = true
	}
	f.spread = f.spread || rapid.Bool().Draw(t, "spread")
	if f.spread && rapid.Bool().Draw(t, "auto") {
		f.auto = new(policy.ShutdownAny)
	}

	ids := []string{"a", "b", "c"}
	for i, id := range ids {
		f.services = append(f.services, drawService(t, id, ids[:i], f.spread))
	}

	f.deaths = f.drawDeaths(t, ids)
	return f
}

func (f fate) drawDeaths(t *rapid.T, ids []string) (deaths []mishap) {
	last := make(map[string]time.Duration)
	for range rapid.IntRange(1, 8).Draw(t, "deaths") {
		m := mishap{service: rapid.SampledFrom(ids).Draw(t, "who"),
			status: rapid.SampledFrom([]int{0, 1, 1, 1, 3, 64, 75}).Draw(t, "status")}
		of := m.service
		if f.spread {
			of = ""
		}
		gap := time.Duration(rapid.Int64Range(1, 60_000).Draw(t, "gap")) * time.Millisecond
		m.at = last[of] + apart + gap
		last[of] = m.at
		deaths = append(deaths, m)

		// What does its work shortly before another fails runs again with the set of that.
		other := rapid.IntRange(0, len(ids)-1).Draw(t, "beside")
		if f.spread && f.auto == nil && ids[other] != m.service &&
			f.services[other].Restart == policy.Transient {
			deaths = append(deaths, mishap{m.at - time.Second, ids[other], 0})
		}
	}
	slices.SortStableFunc(deaths, func(m, n mishap) int { return cmp.Compare(m.at, n.at) })
	return deaths
}

// drawService draws a service that is healthy after less than it will run, or never. Only where
// deaths are spread does it depend on others: whether those are dead when it is to be started again
// must not depend on passes.
func drawService(t *rapid.T, id string, others []string, spread bool) group.Registration {
	limits := policy.DefaultPolicy()
	limits.Backoff = []time.Duration{0, time.Second, 5 * time.Second}
	limits.MaxAttempts = rapid.IntRange(-1, 3).Draw(t, id+" attempts")
	limits.ResetAfter = rapid.SampledFrom([]time.Duration{runs - 2*time.Second,
		24 * time.Hour}).Draw(t, id+" reset")
	if rapid.Bool().Draw(t, id+" intensity") {
		limits.Intensity, limits.IntensityPeriod = 1, 100*time.Second
	}
	if rapid.Bool().Draw(t, id+" deadline") {
		limits.Deadline = 100 * time.Second
	}

	r := group.Registration{Service: id, By: "t", Request: true,
		Restart: rapid.SampledFrom([]policy.RestartType{policy.Permanent, policy.Permanent,
			policy.Transient, policy.Temporary}).Draw(t, id+" restart"),
		StartInfo: &group.StartInfo{Command: "x", Dir: "/", Readiness: observe.ReadinessReady,
			Policy: limits, LogKeep: 1, ExitStatus: policy.ExitStatus{Persistent: []string{"3"}}}}
	if spread {
		on := slices.DeleteFunc(slices.Clone(others),
			func(other string) bool { return !rapid.Bool().Draw(t, id+" on "+other) })
		r.Dependencies = &on
		r.Significant = new(r.Restart != policy.Permanent && rapid.Bool().Draw(t, id+" significant"))
	}
	return r
}

func (f fate) end() time.Duration { return f.deaths[len(f.deaths)-1].at + apart }

// A play is a fate under one schedule of passes.
type play struct {
	t     *rapid.T
	f     fate
	g     group.Group
	begin time.Time
	seen  observe.Observation
	alive map[int]bool // by pid
	died  []mishap
	told  map[string][]string // what each service was started for
}

// play plays f with passes at extra, in ms after its begin, and with those that it needs: some after
// the begin and after each death, at times that depend on extra. It returns what comes of that.
func (f fate) play(t *rapid.T, extra []int64) string {
	p := &play{t: t, f: f, g: group.Create("g"), alive: make(map[int]bool),
		told: make(map[string][]string), begin: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	p.seen = observe.Observation{
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1", BootedAt: p.begin.Add(-time.Hour)},
		Look: func(q observe.Process) observe.Presence { return vectors.Presence(!p.alive[q.PID]) },
	}
	p.at(0)
	for _, r := range f.services {
		p.verb(func(g group.Group) (group.Group, error) { return g.Register(r, p.seen) })
	}

	var passes []time.Duration
	for _, ms := range extra {
		passes = append(passes, time.Duration(ms)*time.Millisecond)
	}
	needs := []time.Duration{-restartsIn}
	for _, m := range f.deaths {
		needs = append(needs, m.at)
	}
	for i, at := range needs {
		late := time.Duration(0)
		if len(extra) > 0 {
			late = time.Duration(extra[i%len(extra)]) * time.Millisecond % (within - 500*time.Millisecond)
		}
		needed := 1
		if f.spread {
			needed = 2 + len(f.services) // the second sees what has stopped; one for each in a chain
		}
		for n := range needed {
			passes = append(passes, at+restartsIn+late+time.Duration(n)*100*time.Millisecond)
		}
	}
	passes = append(passes, f.end()+time.Hour) // all see who is healthy in the end
	slices.Sort(passes)

	deaths := f.deaths
	for _, at := range passes {
		for len(deaths) > 0 && deaths[0].at <= at {
			p.die(deaths[0])
			deaths = deaths[1:]
		}
		p.at(at)
		p.pass()
	}
	return p.String()
}

func (p *play) at(d time.Duration) {
	p.seen.Now, p.seen.MonotonicMs = p.begin.Add(d), 1000+d.Milliseconds()
}

func (p *play) verb(verb func(group.Group) (group.Group, error)) {
	after, err := invariants.Check(p.t.Errorf, p.g, verb)
	if err != nil {
		p.t.Fatal(err)
	}
	p.g = after
}

func (p *play) die(m mishap) {
	s := p.g.Service(m.service)
	if s.State != group.StateRunning || !p.alive[s.PID] {
		return
	}
	p.died = append(p.died, m)
	p.at(m.at)
	p.exit(*s, policy.Exit{Code: policy.CodeExited, Status: m.status})
}

// exit ends the process of s.
func (p *play) exit(s group.Service, end policy.Exit) {
	p.alive[s.PID] = false
	p.verb(func(g group.Group) (group.Group, error) {
		return g.EndService(group.ServiceProcess{Service: s.ID, PID: s.PID, Process: s.Process}, end,
			p.seen)
	})
}

func (p *play) pass() {
	d, err := plan.Pass(p.g, plan.Request{Owner: "me", PID: 1, Strategy: p.f.strategy,
		Limit: p.f.limit, AutoShutdown: p.f.auto}, p.seen)
	if err != nil {
		p.t.Fatal(err)
	}

	var result plan.Result
	for _, a := range d.Actions {
		if a, starts := a.(plan.Start); starts {
			pid := 100 + len(p.alive)
			p.alive[pid] = true
			d.Spawned(a.ServiceID, plan.Spawned{PID: pid, StartID: fmt.Sprintf("%016x", pid),
				Process: observe.Process{PID: pid, HostID: "h", BootID: "b", PIDNamespace: "1",
					StartTicks: int64(pid)}})
			result.Started = append(result.Started, a.ServiceID)
			p.told[a.ServiceID] = append(p.told[a.ServiceID], fmt.Sprint(a.Reason, " ", a.Attempt))
		}
	}

	p.verb(func(group.Group) (group.Group, error) { return d.Group(), nil })
	for _, a := range d.Actions {
		if a, signals := a.(plan.Signal); signals && p.alive[a.PID] {
			p.exit(*p.g.Service(a.ServiceID), policy.Exit{Code: policy.CodeKilled, Status: 15})
		}
	}
	p.verb(func(g group.Group) (group.Group, error) {
		return plan.Record(g, "me", result, p.seen), nil
	})
}

// String returns what has come of the deaths: charges, states, and, if each was about one service
// alone, how the services ended.
func (p *play) String() string {
	lines := []string{fmt.Sprint("deaths ", p.died), fmt.Sprint("charges of the group ",
		p.times(p.g.Registry.Supervision.Restarts)), fmt.Sprint("it ends ",
		p.g.Registry.Supervision.End.Reason)}
	for _, r := range p.f.services {
		s := p.g.Service(r.Service)
		line := fmt.Sprintf("%s: %s, started for %v", s.ID, s.State, p.told[s.ID])
		if s.State != group.StateStopped { // what starts it again forgets them
			line += fmt.Sprintf(", %d attempts, %d retries, %d in a row, charges %v", s.RestartAttempts,
				s.Retries, s.PersistentRow, p.times(s.Restarts))
		}
		if e := s.LastExit; e != nil && p.f.strategy == policy.OneForOne && e.Reason != "stopped" {
			line += fmt.Sprintf(", %v %s", e.At.Sub(p.begin), e)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (p *play) times(all []time.Time) (since []time.Duration) {
	for _, at := range all {
		since = append(since, at.Sub(p.begin))
	}
	return since
}
