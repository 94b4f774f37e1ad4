package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/silence"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// limits returns the limits of a silence.
func (c *run) limits() silence.Limits {
	return silence.Limits{Nudge: time.Duration(c.NudgeAfter), Stop: time.Duration(c.Silence)}
}

// checkSilence refuses flags about silence that do not go together, and output that cannot be seen,
// before anything is written.
func (c *run) checkSilence(env *cli.Env) error {
	switch limits := c.limits(); {
	case limits.Nudge != 0 && c.OnNudge == "":
		return cli.Usagef("--nudge-after goes with --on-nudge CMD, which it runs")
	case limits.Nudge == 0 && c.OnNudge != "":
		return cli.Usagef("--on-nudge goes with --nudge-after D, which says when")
	case limits.Nudge != 0 && limits.Stop != 0 && limits.Stop <= limits.Nudge:
		return cli.Usagef("--silence %v must be more than --nudge-after %v", limits.Stop, limits.Nudge)
	case !limits.Given() && len(c.Output) > 0:
		return cli.Usagef("--output goes with --silence or --nudge-after")
	case limits.Given() && c.Queue == "":
		_, err := c.output(env)
		return err
	}
	return nil
}

// silenceFlags returns the flags about silence for a worker.
func (c *run) silenceFlags() (flags []string) {
	limits := c.limits()
	if limits.Nudge != 0 {
		flags = append(flags, "--nudge-after", limits.Nudge.String(), "--on-nudge="+string(c.OnNudge))
	}
	if limits.Stop != 0 {
		flags = append(flags, "--silence", limits.Stop.String())
	}
	for _, path := range c.Output {
		flags = append(flags, "--output="+string(path))
	}
	return flags
}

// output returns the files to which the command will write: those of --output, and its stdout and
// stderr. It refuses what would never grow, but of a task it only says so: the files of others may
// be there.
func (c *run) output(env *cli.Env) (*silence.Output, error) {
	o := new(silence.Output)
	for _, path := range c.Output {
		err := o.AddPath(string(path))
		switch {
		case err == nil:
		case c.Queue != "":
			env.Warnf("%s: --output %s: not looked at: %v", c.Queue, path, err)
		case errors.Is(err, silence.ErrNotRegular):
			return nil, cli.Usagef("--output %s: %v: name the file that COMMAND writes to", path, err)
		default:
			return nil, fmt.Errorf("--output: %w", err)
		}
	}

	unseen := false
	stds := []*os.File{os.Stdout, os.Stderr}
	if c.To != "" {
		stds = stds[1:]
		o.Add(c.results.look)
	}
	for _, std := range stds {
		if err := o.Add(std.Stat); err != nil && !isNull(std) {
			unseen = true
		}
	}
	if len(c.Output) == 0 && (unseen || o.Empty()) {
		return nil, cli.Usagef("--silence and --nudge-after: output to a terminal or pipe passes " +
			"dpl-run by: redirect stdout and stderr to a file, or give --output PATH, a file that " +
			"COMMAND writes to")
	}
	return o, nil
}

// isNull reports whether f throws away what is written to it.
func isNull(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return errors.Join(err, nullErr) == nil && os.SameFile(info, null)
}

// An excuse is why a command may be silent.
type excuse struct {
	idle    int64 // the revision of the file in which its role is idle; 0: it is not
	asking  bool  // a question of its operation is open
	unknown bool  // the file cannot be read
}

// given reports whether there is an excuse.
func (e excuse) given() bool { return e != excuse{} }

func (c *call) excuse() excuse {
	revision, _, err := c.ledger.Glance(c.op)
	if err == nil && (revision == 0 || revision != c.heard.Revision) {
		c.heard, _, err = c.ledger.ReadOperation(c.op)
	}
	if err != nil {
		return excuse{unknown: true}
	}

	e := excuse{asking: c.questionOpen()}
	if isIdle(c.heard, c.push.Call) {
		e.idle = c.heard.Revision
	}
	return e
}

// questionOpen reports whether a question of the operation waits for its answer (spec §47). One
// that has expired, or that nobody asks any more, does not, even before somebody notes that. A
// queue that cannot be read has no question that could be answered.
func (c *call) questionOpen() bool {
	ids, _ := c.ledger.QueueIDs()
	for _, id := range ids {
		if !queue.IsAskQueue(id) {
			continue
		}
		q, err := c.ledger.ReadQueue(id)
		if err == nil {
			q, err = q.Pass(c.ledger.ObserveQueue(q, c.env.Observer()()))
		}
		if err == nil && slices.ContainsFunc(q.Tasks, c.asks) {
			return true
		}
	}
	return false
}

// asks reports whether t is an open question of the operation.
func (c *call) asks(t *queue.Task) bool {
	return t.State == queue.Open && slices.ContainsFunc(t.Ask.Askers,
		func(a queue.Asker) bool { return a.Operation == c.op })
}

func isIdle(op protocol.Operation, call string) bool {
	f := op.Frame(call)
	return f != nil && f.Said().Readiness == observe.ReadinessIdle
}

func (c *call) spoke(revision int64) { c.awake.Store(revision) }

// report returns say, with the news that the call is ready again, if there was output since it was
// last said to be idle.
func (c *call) report(op protocol.Operation, say observe.Report) observe.Report {
	ours := func(e observe.Event) bool {
		return e.Type == observe.CallReadiness && e.CallID == c.push.Call
	}
	if isIdle(op, c.push.Call) && isOver(op.Events, ours, c.awake.Load()) && say.Readiness == "" {
		say.Readiness = observe.ReadinessReady
	}
	return say
}

// isOver reports whether there was output since the last of the events that are ours, which says
// that the role is idle. It was found idle for the last time in the file of that revision.
func isOver(events []observe.Event, ours func(observe.Event) bool, found int64) bool {
	said := int64(0) // too old to be among the events
	for _, e := range events {
		if ours(e) {
			said = e.Revision
		}
	}
	return found != 0 && said <= found
}

func (r *registration) excuse() excuse {
	g, err := r.ledger.ReadGroup(r.group)
	if err != nil {
		return excuse{unknown: true}
	}
	if isIdleService(g, r.self.Service) {
		return excuse{idle: g.Registry.Revision}
	}
	return excuse{}
}

func isIdleService(g group.Group, id string) bool {
	s := g.Service(id)
	return s != nil && s.Notice.Readiness == observe.ReadinessIdle
}

func (r *registration) spoke(revision int64) { r.awake.Store(revision) }

// report is as for a call.
func (r *registration) report(g group.Group, say observe.Report) observe.Report {
	ours := func(e observe.Event) bool {
		return e.Type == observe.SupervisorReadiness && e.SupervisorID == r.self.Service
	}
	if isIdleService(g, r.self.Service) && isOver(g.Registry.Events, ours, r.awake.Load()) &&
		say.Readiness == "" {
		say.Readiness = observe.ReadinessReady
	}
	return say
}
