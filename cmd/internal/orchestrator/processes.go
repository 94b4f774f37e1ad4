package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Spawn is how services are started.
type Spawn string

const (
	SpawnAuto       Spawn = "auto" // SpawnSystemdRun in a unit of systemd, whose end would kill them, else SpawnDirect
	SpawnDirect     Spawn = "direct"
	SpawnSystemdRun Spawn = "systemd-run" // in a transient unit of their own
)

// A waiting is a process that waits behind its gate to become a service.
type waiting struct {
	Gate
	service string
}

// spawn answers each start of d with a process that waits behind its gate, in the order of the
// starts, or with the reason why there is none.
func (o *Orchestrator) spawn(before group.Group, d *plan.Decision,
	latest time.Duration) (gates []waiting, failed map[string]group.StartFailure) {
	failed = make(map[string]group.StartFailure)
	for _, a := range d.Actions {
		a, starts := a.(plan.Start)
		if !starts {
			continue
		}

		startID := o.machine().NewStartID()
		gate, log, err := o.spawnOne(before.Service(a.ServiceID), a, startID, latest, d.Group())
		if err == nil {
			err = o.reserve(gate, before.Service(a.ServiceID), a, startID)
		}
		if err != nil {
			failed[a.ServiceID] = group.StartFailure{Cause: err.Error(), Class: start.Class(err)}
			d.NotSpawned(a.ServiceID, failed[a.ServiceID])
			continue
		}

		gates = append(gates, waiting{gate, a.ServiceID})
		d.Spawned(a.ServiceID, plan.Spawned{PID: gate.Process().PID, Process: gate.Process(),
			StartID: startID, Keeper: gate.Keeper(), LogFile: log})
	}

	return gates, failed
}

func (o *Orchestrator) spawnOne(s *group.Service, a plan.Start, startID string,
	latest time.Duration, after group.Group) (Gate, group.LogFile, error) {
	to := after.Registry.Supervision.Log
	log, journal, file, err := o.log(s.ID, to)
	if err != nil {
		return nil, file, err
	}

	gate, err := o.machine().Spawn(Start{
		Command: start.Command{
			Argv:    append([]string{s.StartInfo.Command}, s.StartInfo.Args...),
			Dir:     s.StartInfo.Dir,
			Env:     o.environment(s, a, startID, o.exitVariables(a, startID, to)),
			EnvFile: s.StartInfo.EnvironmentFile,

			Log: log,
			ID:  startID,

			Journal: journal,
			Context: s.StartInfo.Context,

			Preflight:        s.StartInfo.Preflight,
			PreflightTimeout: cmp.Or(s.StartInfo.PreflightTimeout, group.DefaultPreflightTimeout),
			Finish:           s.StartInfo.Finish,
			FinishTimeout:    cmp.Or(s.StartInfo.FinishTimeout, group.DefaultFinishTimeout),
			OnExit:           o.onExit(after, s.ID, startID),
			OnExitLast:       o.Every > 0,
			Latest:           latest, Record: o.Ledger.ReservedExitPath(o.Group, s.ID, startID),
		},
		Group: o.Group, Supervisor: s.ID, StopTimeout: s.KillTimeout,
	})
	return gate, file, err
}

// environment is what a started service gets, whatever this pass has itself (spec §11.6). told are
// the variables about the process before it.
func (o *Orchestrator) environment(s *group.Service, a plan.Start, startID string,
	told []string) []string {
	env := []string{
		"DPL_LEDGER=" + o.Ledger.Dir(), "DPL_GROUP=" + o.Group, "DPL_SERVICE=" + s.ID,
		"DPL_SUPERVISOR=" + s.ID,
		"DPL_ATTEMPT=" + strconv.Itoa(a.Attempt), "DPL_REASON=" + a.Reason,
		process.StartVariable + "=" + startID,
		"PWD=" + s.StartInfo.Dir,
	}
	env = append(env, told...)

	// On a first start they would come from another service.
	taken := map[string]bool{exitCodeVariable: true, exitStatusVariable: true, restartVariable: true}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		taken[name] = true
	}

	for _, v := range s.StartInfo.Environment {
		if !taken[v.Name] {
			env = append(env, v.Name+"="+v.Value)
		}
	}

	return env
}

func cancel(gates []waiting) (err error) {
	for _, gate := range gates {
		err = errors.Join(err, gate.Cancel())
	}
	return err
}

// release lets the processes behind the gates become services. A process that is too late is
// neither started nor failed: the next pass finds it gone, and starts it again. So is one whose
// preflight has begun; no pass waits for that. If it is unknown
// whether one has started, it counts as started: the next pass finds it gone, and stops what it has
// left before it starts another.
func (o *Orchestrator) release(gates []waiting) plan.Result {
	result := plan.Result{Failed: make(map[string]group.StartFailure)}
	for _, gate := range gates {
		id := gate.service
		switch err := gate.Release(); {
		case errors.Is(err, start.ErrTooLate):
			o.Env.Warnf("%s: start %q: %v: the next pass starts it", o.Group, id, err)
		case errors.Is(err, start.ErrChecking): // the exit record will say what follows
		case errors.Is(err, start.ErrSilent):
			o.Env.Warnf("%s: start %q: %v", o.Group, id, err)
			result.Started = append(result.Started, id)
		case err != nil:
			result.Failed[id] = group.StartFailure{Cause: err.Error(), Class: start.Class(err)}
		default:
			result.Started = append(result.Started, id)
		}
	}

	return result
}

// signal sends the signals of a pass. It is no error if a process has ended; the next pass looks
// again. What cannot be signalled is said once for each start, however many passes try it.
func (o *Orchestrator) signal(g group.Group, actions []plan.Action) {
	for _, a := range actions {
		a, signals := a.(plan.Signal)
		if !signals {
			continue
		}

		s := g.Service(a.ServiceID)
		for _, err := range o.send(s, a) {
			if err != nil && !errors.Is(err, process.ErrNoProcess) {
				o.warnOnce(s.StartID, fmt.Sprintf("%s: signal %s to %q: %v", o.Group, a.Name,
					a.ServiceID, err))
			}
		}
	}
}

// warnOnce prints a warning about a start, unless it has.
func (o *Orchestrator) warnOnce(startID, warning string) {
	key := startID + " " + warning
	if o.warned[key] {
		return
	}
	if o.warned == nil {
		o.warned = make(map[string]bool)
	}
	o.warned[key] = true
	o.Env.Warnf("%s", warning)
}

// send sends the signal a, and returns an error, or nil, for each process.
func (o *Orchestrator) send(s *group.Service, a plan.Signal) (errs []error) {
	signal, err := process.ParseSignal(string(a.Name))
	if err != nil {
		return []error{err}
	}
	if a.To == plan.ToProcess {
		return []error{o.machine().SignalProcess(a.Process, signal)}
	}

	survivors, doubt := o.machine().Survivors(a.Process, s.StartID, s.Keeper)
	if doubt != nil {
		errs = append(errs, fmt.Errorf("%w: the next pass looks again", doubt))
	}

	if a.To == plan.ToGroup { // first the group as a whole, then processes outside of it
		err := o.machine().SignalGroup(a.Process, signal)
		errs = append(errs, err)
		survivors = slices.DeleteFunc(survivors, func(p observe.Process) bool {
			return err == nil && o.machine().InGroup(p, a.Process) // else the leader may just have ended
		})
	}

	for _, p := range survivors {
		errs = append(errs, o.machine().SignalProcess(p, signal))
	}

	return errs
}
