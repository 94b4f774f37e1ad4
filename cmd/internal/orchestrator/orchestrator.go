// Package orchestrator makes passes over a group of services: it carries out the decisions of
// package protocol.
package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An Orchestrator makes passes over one group.
type Orchestrator struct {
	Env          Env
	Machine      Machine // nil: the one that this program runs on
	Ledger       *fileops.Ledger
	Group        string
	Owner        string
	Failover     bool
	Interval     time.Duration        // 0: the group's
	Staleness    time.Duration        // 0: the group's
	Strategy     policy.Strategy      // "": the group's
	Window       *int                 // nil: the group's
	Limit        *policy.Limit        // nil: the group's
	AutoShutdown *policy.AutoShutdown // nil: the group's
	OnExit       *group.OnExit        // nil: the group's
	Log          *group.LogTarget     // nil: the group's
	Rules        []policy.Rule        // nil: the group's
	Prompt       *group.Prompt        // what asks for the pass; nil: somebody, or a timer
	Unchecked    bool                 // run no health checks, as for a prompt
	CheckOnly    []string             // whose health is checked; nil: that of all services
	OnAlert      string               // a command line for sh; "": none
	HookOut      io.Writer            // what OnAlert prints goes here
	Spawn        Spawn
	State        group.OrchestratorState
	Every        time.Duration // between the passes of one that stays; 0: it makes but one

	clock     func() time.Time // by which GiveAlerts ends; nil: time.Now
	vigil     observe.Vigil
	warned    map[string]bool          // warnings that are printed once
	children  map[string]*Orchestrator // of the groups that are services of this one
	parent    *Orchestrator            // of the group above, if a prompt was passed on to it
	checksEnd time.Time                // when its health checks must have ended; zero: as usual
	unread    error                    // see Unread
	earlier   rounds                   // what earlier rounds have started; nil: there was none
}

// New returns an orchestrator for the group, owned by this user on this host.
func New(env Env, l *fileops.Ledger, groupID string) *Orchestrator {
	owner := process.Here().ID + ":" + strconv.Itoa(os.Getuid())
	return &Orchestrator{Env: env, Ledger: l, Group: groupID, Owner: owner}
}

// A PassReport is what one pass has done.
type PassReport struct {
	StandBy bool
	Seen    observe.Observation // what it is decided by
	Actions []plan.Action
	Failed  map[string]group.StartFailure // services that could not be started, and why
	Alerts  []group.Alert
	Before  group.Group
	After   group.Group
	// of the groups below, first those that were made before this pass
	Children []PassReport

	decision *plan.Decision
	later    int // how many starts it has left to the next pass, because it had no room
}

// Pass makes one pass over the group and those below it (spec §11, §24). With --dry-run it only
// reports what it would do. When it returns, the alerts are in the alerts file, but no hook has
// been given them; see GiveAlerts. After an error, part of the pass may be done; the next pass does
// the rest. A pass with a Prompt is also made over the groups above that notice.
func (o *Orchestrator) Pass() (PassReport, error) {
	if o.Prompt != nil {
		return o.prompted(map[string]bool{})
	}
	return o.pass(map[string]bool{})
}

// passAlone makes one pass over the group itself, with the results of health checks. It has done
// nothing if it returns childrenFirst, because groups that are its services are not in visited, or
// errChecksFirst, because health is nil and checks are due.
func (o *Orchestrator) passAlone(visited map[string]bool, health *checks) (PassReport, error) {
	if err := o.Env.CheckGroupTrust(o.Ledger); err != nil {
		return PassReport{}, err
	}
	files, err := o.startFiles() // before the lock: see RemoveStartFiles
	if err != nil {
		return PassReport{}, err
	}
	if o.Env.DryRun() {
		return o.rehearse(visited)
	}

	var p PassReport
	try := func() error {
		p = PassReport{}
		return o.Ledger.HoldGroup(o.Group, fileops.Existing, func(tx *fileops.GroupTx) error {
			return o.underLock(tx, &p, visited, health)
		})
	}
	err = try()
	if fileops.IsFull(err) && o.MakeRoom() {
		err = try()
	}

	o.say(p)
	var due []string
	if err == nil && !p.StandBy { // otherwise the next pass decides again, and may need them
		o.forget(files, p.decision, p.After)
		due = p.decision.Rotate
	}
	if !p.StandBy {
		o.rotateLogs(p.After, due)
	}
	if leftErr := o.Ledger.SweepGroup(o.Group); leftErr != nil {
		o.Env.Warnf("%s: tidy up: %v", o.Group, leftErr)
	}

	return p, err
}

// underLock makes the part of the pass p that needs the group's lock. It returns childrenFirst and
// errChecksFirst as passAlone does.
func (o *Orchestrator) underLock(tx *fileops.GroupTx, p *PassReport, visited map[string]bool,
	health *checks) error {
	p.Before = tx.Value()
	if err := o.checkTiming(p.Before); err != nil {
		return err
	}

	began := o.machine().Uptime()
	seen := o.watched(tx.Observe(), p.Before)
	p.Seen = seen
	if err := o.checkChildren(p.Before, visited, seen); err != nil {
		return err
	}
	if health == nil {
		if err := o.checkFirst(p.Before, seen); err != nil {
			return err
		}
		health = &checks{}
	}

	request := o.arguments(p.Before, seen)
	request.Health = health.results
	d, err := plan.Pass(p.Before, request, seen)
	if err != nil {
		return err
	}

	if p.StandBy = d.StandBy; p.StandBy {
		p.After = p.Before
		return nil
	}

	p.Actions, p.decision, p.later = d.Actions, d, d.Later
	var latest time.Duration
	if seen.Sightings != nil && began > 0 {
		latest = began + d.Group().Orchestrator.StalenessThreshold/2
	}

	return cmp.Or(o.carryOut(tx, d, p, latest), o.unread)
}

// watched returns seen with how this orchestrator has watched g. If its passes are too rare for the
// threshold, it cannot tell the time between two passes from a pause.
func (o *Orchestrator) watched(seen observe.Observation, g group.Group) observe.Observation {
	threshold := cmp.Or(o.Staleness, g.Orchestrator.StalenessThreshold)
	if o.Every == 0 || o.Every > threshold/2 {
		return seen
	}
	return o.vigil.Look(seen, threshold)
}

// say says with -v what p has found and done, and without what it could not do.
func (o *Orchestrator) say(p PassReport) {
	switch {
	case p.StandBy && o.Prompt != nil:
		o.Env.Logf("%s: no pass is needed: standing by", o.Group)
	case p.StandBy:
		o.Env.Logf("%s: %s orchestrates it: standing by", o.Group, p.Before.Registry.Owner)
	}

	for _, a := range p.Alerts {
		if a.Type == group.AlertFailed || a.Type == group.AlertDead {
			log := o.Ledger.LogPath(o.Group, a.ServiceID)
			if p.After.Registry.Supervision.Log == group.LogJournal {
				log = "journalctl -t " + group.JournalName(o.Group, a.ServiceID)
			}
			o.Env.Logf("%s: %q: %s: %s: log %s", o.Group, a.ServiceID, a.Type, a.Message, log)
		}
	}

	o.sayShortage(p)
	for _, a := range p.Actions {
		switch a := a.(type) {
		case plan.Start:
			if f, failed := p.Failed[a.ServiceID]; failed {
				if f.Class != policy.Tempfail {
					o.Env.Warnf("%s: start %q: %s", o.Group, a.ServiceID, f.Cause)
				}
				continue
			}
			o.Env.Logf("%s: start %q, attempt %d: %s", o.Group, a.ServiceID, a.Attempt, a.Reason)
		case plan.Signal:
			o.Env.Logf("%s: signal %s to %q: %s of %d", o.Group, a.Name, a.ServiceID, a.To, a.PID)
		case plan.Begin:
			o.Env.Logf("%s: begin group %q, generation %d", o.Group, a.Group, a.Parent.Generation)
		case plan.Finish:
			o.Env.Logf("%s: end group %q, generation %d", o.Group, a.Group, a.Parent.Generation)
		}
	}
}

// sayShortage says in one line which starts of p the next pass tries again, and in another one how
// many p had no room for.
func (o *Orchestrator) sayShortage(p PassReport) {
	var short []string
	for _, a := range p.Actions {
		if a, starts := a.(plan.Start); starts && p.Failed[a.ServiceID].Class == policy.Tempfail {
			short = append(short, a.ServiceID)
		}
	}

	if len(short) > 0 {
		others := ""
		if len(short) > 1 {
			others = fmt.Sprintf(" and %d more", len(short)-1)
		}
		o.Env.Warnf("%s: start %q%s: %s: a later pass tries again", o.Group, short[0], others,
			p.Failed[short[0]].Cause)
	}
	if p.later > 0 {
		o.Env.Warnf("%s: %d services wait for the next pass: too few files may be open at once: "+
			"raise that, with ulimit -n", o.Group, p.later)
	}
}

func (o *Orchestrator) arguments(g group.Group, seen observe.Observation) plan.Request {
	last, err := o.Ledger.LastAlert(o.Group)
	if err != nil {
		o.Env.Warnf("%v", err) // services matter more: it is only the alerts that will stay pending
	}
	return plan.Request{
		Owner: o.Owner, PID: o.machine().PID(), State: o.State, Failover: o.Failover,
		Hook: o.OnAlert != "", LastAlert: last,
		HeartbeatInterval: o.Interval, StalenessThreshold: o.Staleness,
		Strategy: o.Strategy, Window: o.Window, Limit: o.Limit,
		AutoShutdown: o.AutoShutdown, OnExit: o.OnExit, Log: o.Log, Rules: o.Rules, Prompt: o.Prompt,
		Room: o.machine().Room(), Started: o.earlier.of(o.Group),
		Exit: o.Exits(g, seen), Child: o.Ledger.LookAtChild,
	}
}

// checkTiming returns an error for durations with which everything in g would be stale before the
// next heartbeat.
func (o *Orchestrator) checkTiming(g group.Group) error {
	staleness := cmp.Or(o.Staleness, g.Orchestrator.StalenessThreshold)
	if o.Interval >= staleness {
		return cli.Usagef("--interval %v must be less than --staleness %v", o.Interval, staleness)
	}
	return nil
}

// rehearse decides on what is there, without the lock.
func (o *Orchestrator) rehearse(visited map[string]bool) (p PassReport, err error) {
	_, err = o.Ledger.EditGroup(o.Group, fileops.DryRun,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			if err := o.checkChildren(g, visited, seen); err != nil {
				return g, err
			}
			if err := o.checkTiming(g); err != nil {
				return g, err
			}

			d, err := plan.Pass(g, o.arguments(g, seen), seen)
			if err != nil {
				return g, err
			}

			p = PassReport{StandBy: d.StandBy, Actions: d.Actions, Before: g, After: d.Group(),
				Seen: seen}
			return p.After, o.unread
		})

	return p, err
}

// carryOut commits the decision d, takes its actions, and commits the result (spec §11.5). After
// the uptime latest it is too late for starts, because other hosts have given them up; 0 means no
// limit.
func (o *Orchestrator) carryOut(tx *fileops.GroupTx, d *plan.Decision, p *PassReport,
	latest time.Duration) error {
	gates, notSpawned := o.spawn(p.Before, d, latest)
	p.Failed = notSpawned
	committed := tx.Commit(d.Group())
	if committed != nil && !errors.Is(committed, fileops.ErrCommitted) {
		return errors.Join(committed, cancel(gates))
	}

	o.Env.NoteCommit()
	o.signal(tx.Value(), p.Actions)
	result := o.release(gates)
	maps.Copy(p.Failed, result.Failed)
	err := errors.Join(committed, o.record(tx, result, committed == nil, p))
	p.After = tx.Value()
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrPartial, err)
	}

	return nil
}

// record commits the result of the starts, and writes the alerts that are certainly committed. The
// number of any other alert could be given again after a power cut.
func (o *Orchestrator) record(tx *fileops.GroupTx, result plan.Result, durable bool,
	p *PassReport) error {
	for {
		if alerts := tx.Value().Registry.PendingAlerts; durable && len(alerts) > 0 {
			if err := fileops.AppendAlerts(tx, alerts); err != nil {
				return errors.Join(err, tx.Commit(plan.Record(tx.Value(), o.Owner, result, tx.Observe())))
			}
			result.Appended = alerts[len(alerts)-1].Seq
			p.Alerts = append(p.Alerts, alerts...)
		}

		after := plan.Record(tx.Value(), o.Owner, result, tx.Observe())
		if err := tx.Commit(after); err != nil || !durable ||
			len(after.Registry.PendingAlerts) == 0 {
			return err
		}

		result = plan.Result{} // a pending alert now says that a start has failed
	}
}

// Leave says that no more passes come from this orchestrator, unless another owner has taken over.
func (o *Orchestrator) Leave(state group.OrchestratorState) error {
	for _, child := range o.others() {
		if err := child.Leave(state); err != nil && !errors.Is(err, fileops.ErrNoGroup) {
			o.Env.Warnf("%s: %v", child.Group, err)
		}
	}
	return o.Ledger.HoldGroup(o.Group, fileops.Existing, func(tx *fileops.GroupTx) error {
		return tx.Commit(tx.Value().SetOrchestratorState(o.Owner, state))
	})
}
