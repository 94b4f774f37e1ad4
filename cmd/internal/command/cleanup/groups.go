package cleanup

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

// tidyGroups removes the services that ended long ago from all groups (spec §30.1). An error in one
// group does not stop the others.
func (j *janitor) tidyGroups() error {
	ids, err := j.ledger.Groups()
	j.groups = []cli.Object{}
	for _, id := range ids {
		groupErr := j.tidyGroup(id)
		if groupErr != nil && !errors.Is(groupErr, fileops.ErrNoGroup) {
			err = errors.Join(err, cli.Named("cleanup", id, "", groupErr))
		}
	}
	return err
}

// tidyGroup looks at a group, and takes its lock only if there is something to remove.
func (j *janitor) tidyGroup(id string) error {
	g, err := j.ledger.ReadGroup(id)
	if err != nil {
		return err
	}

	seen := j.ledger.ObserveGroup(g, j.env.Observer()())
	after, removed, err := g.Tidy(j.by, seen)
	if err != nil || len(removed) == 0 {
		return err
	}

	if !j.env.DryRun() {
		return j.remove(id)
	}
	if !j.env.JSON() {
		j.env.PrintGroupDiff(g, after)
	}
	j.note(id, removed)
	return nil
}

func (j *janitor) remove(id string) error {
	removed, err := j.ledger.TidyGroup(id, j.by)
	if len(removed) > 0 {
		j.env.NoteCommit()
		j.note(id, removed)
	}
	return err
}

func (j *janitor) note(id string, removed []string) {
	for _, service := range removed {
		j.env.Logf("%s: remove %q and its logs: it has ended", id, service)
	}
	j.groups = append(j.groups, cli.Object{{"groupId", id}, {"removed", removed}})
}
