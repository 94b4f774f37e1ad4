package status

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// runs returns the runs of an operation, the newest first.
func (s *reporter) runs(id string) (all []model.Operation, err error) {
	current, archived, currentErr := s.ledger.ReadOperation(id)
	if currentErr != nil && !errors.Is(currentErr, fileops.ErrNotFound) {
		return nil, cli.Named("status", id, "", currentErr)
	}
	if currentErr == nil && !archived {
		all = append(all, s.observed(current))
	}

	runs, err := s.ledger.ArchivedRuns(id)
	for _, run := range slices.Backward(runs) {
		op := s.observed(run.Operation)
		op.Archived, op.Superseded = true, len(all) > 0
		all = append(all, op)
	}
	if len(all) == 0 {
		err = errors.Join(currentErr, err)
	}
	return all, cli.Named("status", id, "", err)
}

func (s *reporter) observed(op protocol.Operation) model.Operation {
	seen, _ := s.ledger.ObserveOperation(op, s.clock())
	return model.Operation{Operation: op, Seen: seen}
}

// readRun returns the run of the operation id whose id begins with run, or the newest run if run is
// "".
func (s *reporter) readRun(id, run string) (op model.Operation, err error) {
	if run == "" {
		return s.read(id)
	}

	all, err := s.runs(id)
	var found []model.Operation
	var known []string
	for _, op := range all {
		if op.RunID != "" {
			known = append(known, op.RunID)
		}
		if strings.HasPrefix(op.RunID, run) {
			found = append(found, op)
		}
	}

	switch {
	case len(found) == 1:
		return found[0], nil
	case err != nil:
		return op, err
	case len(found) > 1:
		err = cli.Usagef("%s: %d runs have an id that begins with %q: there are %s", id, len(found),
			run, strings.Join(known, ", "))
	default:
		err = cli.WithStatus(cli.StatusNotFound, fmt.Errorf("%s: there is no run %q: there are %s", id,
			run, cmp.Or(strings.Join(known, ", "), "none with an id")))
	}
	return op, err
}

// listRuns prints the runs of an operation.
func (s *reporter) listRuns(id string) error {
	all, err := s.runs(id)
	if len(all) == 0 {
		return err
	}
	if err != nil {
		s.env.Warnf("%v", err)
	}

	if s.machine() {
		if err := s.print(cli.Object{{"operationId", id}, {"runs", objects(all, run)}},
			"runs"); err != nil {
			return err
		}
	} else {
		io.WriteString(s.env.Stdout, screen.Style().Runs(all))
	}
	return cli.Exit(cli.StatusOf(err))
}

func run(op model.Operation) cli.Object {
	return append(cli.Object{{"runId", cli.OrNull(op.RunID)}, {"state", op.State},
		{"revision", op.Revision}, {"startedAt", stampOrNull(op.StartedAt())},
		{"endedAt", stampOrNull(op.EndedAt())}, {"archived", op.Archived}}, left(op)...)
}

// left returns why op failed or was aborted, and when. All members are null if it was not.
func left(op model.Operation) cli.Object {
	t, is := op.LeftRunning()
	if !is {
		return cli.Object{{"failedAt", nil}, {"aborted", false}, {"reason", nil}, {"cause", nil}}
	}
	return cli.Object{{"failedAt", stampOrNull(t.At)}, {"aborted", t.To == protocol.Aborted},
		{"reason", cli.OrNull(explain.Failure(op))}, {"cause", cli.Cause(t.Cause)}}
}

// readPast adds the runs in the archive to p that p is to list.
func (s *reporter) readPast(p *picture) error {
	read := func() ([]fileops.Archived, error) { return s.ledger.ArchivedFailures(p.since) }
	if p.all {
		read = func() ([]fileops.Archived, error) { return s.ledger.ArchivedRuns("") }
	}
	runs, err := read()
	if err != nil {
		p.miss(&p.missing.Operations, err)
	}

	newer := make(map[string]bool)
	for _, op := range p.ops {
		newer[op.ID] = true
	}
	seen := s.clock()
	for _, run := range slices.Backward(runs) {
		op := model.Operation{Operation: run.Operation, Archived: true, Seen: seen,
			Superseded: newer[run.ID]}
		newer[run.ID] = true
		if p.lists(op) {
			p.past = append(p.past, op)
		}
	}

	n, err := s.ledger.CountArchived()
	p.archived = max(n-len(p.past), 0)
	return err
}

// lists reports whether op, which has ended, is to be listed.
func (p *picture) lists(op model.Operation) bool {
	if p.all {
		return true
	}
	return op.State == protocol.Failed && !op.EndedAt().Before(p.since)
}

// listing returns p as a person sees it.
func (p *picture) listing() table.Listing {
	l := table.Listing{Groups: p.groups, Queues: p.queues, Others: p.archived}
	for _, op := range p.ops {
		switch {
		case !op.State.Terminal():
			l.Operations = append(l.Operations, op)
		case p.lists(op):
			l.Ended = append(l.Ended, op)
		default:
			l.Others++
		}
	}

	l.Ended = append(l.Ended, p.past...)
	slices.SortStableFunc(l.Ended, func(a, b model.Operation) int {
		return b.EndedAt().Compare(a.EndedAt())
	})
	return l
}
