package cleanup

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// notify prints the failures of the operations that it has found, and of those that were archived
// lately: others may have archived them before it could look. It also gives them to the command of
// --on-failure. If only is not "", it tells about that operation alone. Attempts at tasks fail
// without being told of: queues have alerts. A failure that cannot be told does not keep the others
// from being told.
func (j *janitor) notify(only string) {
	if j.teller == nil && j.quiet {
		return
	}

	for _, id := range j.failed {
		op, archived, err := j.ledger.ReadOperation(id)
		switch {
		case errors.Is(err, fileops.ErrNotFound): // it was removed since
		case err != nil:
			j.fail(cli.Named("tell failure", id, "", err))
		case !archived && !j.ledger.IsAttempt(id):
			j.give(op, j.ledger.OperationPath(id))
		}
	}

	all, err := j.ledger.ArchivedFailures(j.env.Now().Add(-failures.Window))
	if err != nil {
		j.fail(err)
	}
	for _, op := range all {
		if only == "" || op.ID == only {
			j.give(op.Operation, op.Path)
		}
	}
}

// give tells the failure of op, whose file is at path. After a command that hangs, others wait for
// the next time.
func (j *janitor) give(op protocol.Operation, path string) {
	if !j.quiet && !printedByRun(op) {
		if err := j.say(op, path); err != nil {
			j.fail(err)
		}
	}
	if j.teller == nil || j.hangs {
		return
	}

	told, timedOut, err := j.teller.Tell(op, path)
	if j.hangs = timedOut; told {
		j.told = append(j.told, op.ID)
	}
	if err != nil {
		j.fail(err)
	}
}

// printedByRun reports whether a dpl-run that is alive began op: it prints the failure when it ends.
func printedByRun(op protocol.Operation) bool {
	if len(op.Stack) == 0 {
		return false
	}
	root := op.Stack[0]
	return root.CallerID == "" && root.StartID != "" && root.State.Live()
}

// say prints the failure of op, unless that was done. For JSON, it begins to.
func (j *janitor) say(op protocol.Operation, path string) error {
	const most = 100 // each has a lock until the JSON is printed
	if !j.env.JSON() {
		_, err := failures.Say(j.ledger, op, func(f protocol.Failure) error {
			line := failures.Line(op.ID, f, j.env.Now())
			_, err := j.env.Stdout.Write([]byte(harmless.Text(line) + "\n"))
			return err
		})
		return err
	}

	if len(j.saying) == most {
		return nil
	}
	s, err := failures.Begin(j.ledger, op)
	if s != nil {
		j.saying = append(j.saying, s)
		j.said = append(j.said, s.Object(path))
	}
	return err
}
