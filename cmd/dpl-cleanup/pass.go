package main

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// pass is a janitor's: over op, or over all operations and what lies about the ledger if op is "".
func (c *cleanup) pass(env *cli.Env, op string) error {
	l, err := env.Open()
	if c.ifExists && errors.Is(err, fileops.ErrNoLedger) {
		if env.JSON() {
			env.PrintJSON(cli.Object{{Name: "operations", Value: []cli.Object{}}})
		}
		return nil
	}
	if err != nil {
		return err
	}
	by, err := env.Janitor()
	if err != nil {
		return err
	}
	j := &janitor{env: env, ledger: l, by: by}
	if op != "" {
		if err := j.tick(op); err != nil {
			return err
		}
	} else if err := j.all(); err != nil {
		return err
	}
	if env.JSON() {
		env.PrintJSON(cli.Object{{Name: "operations", Value: j.results}})
	}
	return cli.Exit(j.worst)
}

type janitor struct {
	env     *cli.Env
	ledger  *fileops.Ledger
	by      string
	worst   int
	results []cli.Object
}

// all ticks every operation and tidies the ledger. What goes wrong with one does not keep it from the others.
func (j *janitor) all() error {
	entries, err := j.ledger.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := j.tick(e.ID); err != nil && !errors.Is(err, fileops.ErrArchived) && !errors.Is(err, fileops.ErrNotFound) {
			j.fail(err)
		}
	}
	if j.env.DryRun() {
		return nil
	}
	if err := j.ledger.Sweep(); err != nil {
		j.fail(err)
	}
	if err := j.ledger.PruneArchive(j.env.Now()); err != nil {
		j.fail(err)
	}
	return nil
}

func (j *janitor) fail(err error) {
	j.env.Warnf("%v", err)
	j.worst = cli.Worse(j.worst, cli.StatusOf(err))
}

// tick gives op a pass. It looks without the lock first, so that an operation with nothing to do costs one read.
func (j *janitor) tick(id string) error {
	op, archived, err := j.ledger.ReadOperation(id)
	if archived {
		err = fileops.ErrArchived
		if !j.env.DryRun() {
			j.ledger.Settle(id)
		}
	}
	if err != nil {
		return cli.Named("cleanup", id, "", err)
	}
	edit := cli.Edit{After: op}
	seen, news := j.ledger.ObserveOperation(op, j.env.Clock()())
	if after, err := op.Cleanup(j.by, seen); err != nil || after.Revision != op.Revision || news {
		edit, err = j.env.Edit(j.ledger, id, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Cleanup(j.by, seen)
		})
		if err != nil {
			return cli.Named("cleanup", id, "", err)
		}
	}
	j.report(edit)
	return nil
}

func (j *janitor) report(edit cli.Edit) {
	var crashed, lingering []string
	for _, f := range edit.After.Stack {
		if f.State == protocol.FrameCrashed {
			crashed = append(crashed, f.CallID)
		}
	}
	for _, f := range edit.After.Lingering(j.env.Now()) {
		lingering = append(lingering, f.CallID)
		j.env.Warnf("%s: call %q of %s was told to clean up and has not popped", edit.After.ID, f.CallID, f.ParticipantID)
	}
	j.results = append(j.results, append(edit.Result(), cli.Object{
		{Name: "archived", Value: edit.Archived}, {Name: "crashed", Value: crashed}, {Name: "lingering", Value: lingering},
	}...))
	switch {
	case edit.Archived:
		j.env.Logf("%s: archived", edit.After.ID)
	case edit.Changed:
		j.env.Logf("%s: %s, revision %d, %d calls", edit.After.ID, edit.After.State, edit.After.Revision, len(edit.After.Stack))
	}
}
