package importer

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// errExists means that there is another operation with the same id, or the same one has changed
// since it was imported.
var errExists = errors.New("a different operation with this id exists: import the file under " +
	"another id with --op or --rename")

// write creates the operations. It goes on if one is refused.
func write(env *cli.Env, l *fileops.Ledger, all []found) error {
	var errs error
	results := []cli.Object{}
	for _, f := range all {
		edit, err := f.edit(env, l)
		if err != nil {
			errs = errors.Join(errs, cli.Named("import", f.op.ID, f.file, err))
			continue
		}

		if edit.Changed() {
			f.warn(env)
		}

		switch {
		case env.JSON():
			results = append(results, f.result(edit))
		case env.DryRun():
			fmt.Fprint(env.Stdout, harmless.JSON(f.op.Encode()))
		default:
			fmt.Fprintln(env.Stdout, f.op.ID)
		}
	}

	if env.JSON() && (errs == nil || len(results) > 0) {
		env.PrintJSON(cli.Object{{"operations", results}})
	}

	return errs
}

// edit creates the operation unless it exists as it is.
func (f found) edit(env *cli.Env, l *fileops.Ledger) (session.Edit, error) {
	return env.EditOperation(l, f.op.ID, fileops.OrCreate,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			same := f.op
			same.Schema = op.Schema // a file without one is the same
			switch {
			case op.Revision == 0 && op.ID == "":
				return f.op, nil
			case op.Encode() == same.Encode():
				return op, nil
			}
			return op, cli.WithStatus(cli.StatusRefused, errExists)
		})
}

// warn warns about results that the user may not expect.
func (f found) warn(env *cli.Env) {
	for _, r := range f.left {
		env.Warnf("%s: not taken over, but kept under peer: %s", f.op.ID, r.Error)
	}
	if ahead := f.op.LastHeartbeat.Sub(env.Now()); ahead > time.Minute {
		env.Warnf("%s: the last heartbeat is %v from now: if the file was written in another "+
			"time zone, import it under another --op with that --time-zone",
			f.op.ID, ahead.Round(time.Second))
	}
}

func (f found) result(edit session.Edit) cli.Object {
	return append(cli.Result(edit), cli.Object{{"file", f.file},
		{"leftResources", cli.LeftResources(f.left)}}...)
}
