package claim

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// look stores how the files are that an attempt at t must change, for the check of dpl-settle (spec
// §45). Without that the check is uncertain, so what goes wrong here is no error of the claim.
func (c *claim) look(env *cli.Env, l *fileops.Ledger, t *queue.Task) {
	content, _, inline := t.Content()
	if inline && !strings.Contains(string(content), `"changed"`) &&
		!strings.Contains(string(content), `\u`) {
		return
	}

	err := store(l, string(c.Queue), t)
	if err != nil {
		env.Warnf("%s: task %s: its check will not know what has changed: %v", c.Queue, t.ID, err)
	}
}

func store(l *fileops.Ledger, queueID string, t *queue.Task) error {
	content, err := l.ReadSpec(queueID, t)
	if err != nil {
		return err
	}
	spec, err := queue.DecodeSpec(content)
	if err != nil || spec.Check == "" {
		return err
	}

	dir := spec.Dir
	if dir == "" {
		dir = "."
	}
	start, err := checking.Start(spec.Check, dir)
	if err != nil || start == "" {
		return err
	}
	return l.WriteAttemptStart(queueID, t.ID, t.Claim.Epoch, start)
}
