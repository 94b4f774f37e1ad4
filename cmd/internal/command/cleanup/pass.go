package cleanup

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/cmd/internal/parallel"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// pass makes a janitor's pass over op, or if op is "", over all operations and leftovers in the
// ledger.
func (c *cleanup) pass(env *cli.Env, op string) error {
	l, err := env.Open()
	if c.IfExists && errors.Is(err, fileops.ErrNoLedger) {
		if env.JSON() {
			env.PrintJSON(cli.Object{{"operations", []cli.Object{}}, {"groups", []cli.Object{}},
				{"queues", []cli.Object{}}})
		}
		return nil
	}

	if err != nil {
		return err
	}

	by, err := env.ActorID()
	if err != nil {
		return err
	}

	j := &janitor{env: env, ledger: l, by: by, quiet: c.Quiet || env.DryRun()}
	if c.OnFailure != "" {
		j.teller = &failures.Teller{Env: env, Ledger: l, Command: string(c.OnFailure)}
	}
	if op != "" {
		env.NoteInherited(l, op)
		if err := j.pass(op, j.look(op, j.env.Observer()())); err != nil {
			return err
		}
		j.notify(op)
	} else if err := j.all(); err != nil {
		return err
	} else if c.KeepRecord > 0 {
		j.pruneRecords(time.Duration(c.KeepRecord))
	}

	if env.JSON() {
		o := cli.Object{{"operations", j.results}}
		if op == "" {
			o = append(o, cli.Member{"groups", j.groups}, cli.Member{"queues", j.queues})
		}
		if j.teller != nil {
			o = append(o, cli.Member{"told", append([]string{}, j.told...)})
		}
		if !j.quiet {
			o = append(o, cli.Member{"failures", append([]cli.Object{}, j.said...)})
		}
		printed := env.PrintJSON(o)
		for _, s := range j.saying {
			if err := s.End(printed); err != nil && printed == nil {
				j.fail(err)
			}
		}
	}

	return env.ExitAfterCommits(j.worst)
}

type janitor struct {
	env     *cli.Env
	ledger  *fileops.Ledger
	by      string
	worst   int
	results []cli.Object
	groups  []cli.Object // from which services were removed
	queues  []cli.Object // that were edited

	quiet  bool               // it prints no failures
	saying []*failures.Saying // those that it prints, as JSON in said
	said   []cli.Object
	teller *failures.Teller // nil without --on-failure
	hangs  bool             // the command of --on-failure
	failed []string         // operations that have failed, and that it may have to tell about
	told   []string         // those that it has told the command about
}

// all makes a pass over every operation and tidies the ledger. An error in one operation does not
// stop the others.
func (j *janitor) all() error {
	ids, err := j.ledger.IDs()
	if err != nil {
		return err
	}

	for some := range slices.Chunk(ids, atOnce) {
		for i, found := range j.lookAt(some) {
			err := j.pass(some[i], found)
			if err != nil && !errors.Is(err, fileops.ErrArchived) &&
				!errors.Is(err, fileops.ErrNotFound) {
				j.fail(err)
			}
		}
	}

	if err := j.tidyGroups(); err != nil {
		j.fail(err)
	}
	if err := j.tidyQueues(); err != nil {
		j.fail(err)
	}
	if j.env.DryRun() {
		return nil
	}
	j.notify("")
	now := j.env.Now()
	if err := j.ledger.PruneFailures(now, now.Add(-failures.Window)); err != nil {
		j.fail(err)
	}
	if err := j.ledger.Sweep(); err != nil {
		j.fail(err)
	}
	if err := j.ledger.PruneArchive(now); err != nil {
		j.fail(err)
	}

	return nil
}

func (j *janitor) fail(err error) {
	j.env.Warnf("%v", err)
	j.worst = cli.Worse(j.worst, cli.StatusOf(err))
}

// A look is what a janitor sees of an operation without locking it.
type look struct {
	op       protocol.Operation
	archived bool
	quiet    bool // there is nothing to do
	failed   bool // it has failed
	err      error
}

func (j *janitor) look(id string, seen observe.Observation) (found look) {
	found.op, found.archived, found.err = j.ledger.ReadOperation(id)
	if found.err == nil && !found.archived {
		seen, news := j.ledger.ObserveOperation(found.op, seen)
		after, err := found.op.Cleanup(j.by, seen)
		found.quiet = err == nil && after.Revision == found.op.Revision && !news
	}

	_, found.failed = found.op.LeftRunning()
	if found.quiet && found.op.State != protocol.Cleanup && !j.env.JSON() {
		found.op = protocol.Operation{} // it is not needed any more
	}
	return found
}

const atOnce = 256 // number of operations to look at before the first is edited

// lookAt looks at operations, on all processors if there are many.
func (j *janitor) lookAt(ids []string) []look {
	all := make([]look, len(ids))
	clock := j.env.Observer()
	parallel.Each(len(ids), func(mine iter.Seq[int]) {
		seen := clock()
		for i := range mine {
			all[i] = j.look(ids[i], seen)
		}
	})

	return all
}

// pass makes a pass over an operation after a look at it. If there is nothing to do, the look was
// all it costs.
func (j *janitor) pass(id string, found look) error {
	if found.archived {
		found.err = fileops.ErrArchived
		if !j.env.DryRun() {
			j.ledger.Settle(id)
		}
	}

	if found.err != nil {
		return cli.Named("cleanup", id, "", found.err)
	}

	var edit session.Edit
	edit.Before, edit.After = found.op, found.op
	failed := found.failed
	if !found.quiet {
		var err error
		edit, err = j.env.Edit(j.ledger, id, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				return op.Cleanup(j.by, seen)
			})
		if err != nil {
			return cli.Named("cleanup", id, "", err)
		}
		_, failed = edit.After.LeftRunning()
	}

	if failed {
		j.failed = append(j.failed, id)
	}
	j.report(edit)
	return nil
}

func (j *janitor) report(edit session.Edit) {
	var lingering []string
	for _, f := range edit.After.Lingering(j.env.Now()) {
		lingering = append(lingering, f.CallID)
		j.env.Warnf("%s: call %q of %s was asked to clean up and has not popped", edit.After.ID,
			f.CallID, f.ParticipantID)
	}

	if j.env.JSON() {
		j.results = append(j.results, append(cli.Result(edit), cli.Object{
			{"archived", edit.Archived}, {"crashed", crashed(edit.After)},
			{"lingering", lingering},
		}...))
	}

	switch {
	case edit.Archived:
		j.env.Logf("%s: archived", edit.After.ID)
	case edit.Changed():
		j.env.Logf("%s: %s, revision %d, %d calls", edit.After.ID, edit.After.State,
			edit.After.Revision, len(edit.After.Stack))
	}
}

// crashed returns the calls of op that have crashed and are not cleaned up yet.
func crashed(op protocol.Operation) (calls []string) {
	for _, f := range op.Stack {
		if f.State == protocol.FrameCrashed {
			calls = append(calls, f.CallID)
		}
	}
	return calls
}
