package simulation

import (
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops"
)

// A subject is what a history is about.
type subject int

const (
	inOperations subject = iota
	inGroups
	inQueues
)

func (k kind) subject() subject {
	switch {
	case k.groups:
		return inGroups
	case k.queues:
		return inQueues
	}
	return inOperations
}

// A control puts a bug in, and says within how many histories it must be found: about
// one history in 4000 finds the last one.
var controls = []struct {
	name   string
	bug    bug
	kinds  subject
	within uint64
}{
	{"no lock", bugNoLock, inOperations, 300},
	{"no lock on a group", bugNoLock, inGroups, 300},
	{"no fsync of files", bugNoFileSync, inOperations, 3000},
	{"no fsync of files of a group", bugNoFileSync, inGroups, 3000},
	{"no fsync of directories", bugNoDirSync, inOperations, 3000},
	{"no fsync of directories of a group", bugNoDirSync, inGroups, 3000},
	{"acknowledge before the commit", bugAckEarly, inOperations, 1000},
	{"look and act in two lock holds", bugTwoHolds, inOperations, 10_000},
	{"a process is its number", bugPIDOnly, inGroups, 10_000},
	{"a file that is not found is empty", bugMissing, inOperations, 1000},
	{"start without the gate", bugNoGate, inGroups, 3000},
	{"a start that may have succeeded has failed", bugNotSilent, inGroups, 10_000},
	{"who cannot be told is no survivor", bugNoDoubt, inGroups, 10_000},
	{"a heartbeat revives a crashed frame", bugRevival, inOperations, 3000},
	{"archived without a countdown", bugNoCountdown, inOperations, 300},
	{"a pass that does nothing", bugIdle, inOperations, 300},
	{"temporary files that stay", bugKeepTemps, inOperations, 300},
	{"a deletion outside the ledger", bugGrab, inOperations, 300},
	{"an alert that is written twice", bugTwice, inGroups, 300},
	{"who lives is stale", bugUnseen, inOperations, 3000},
	{"who lives is stale, in a group", bugUnseen, inGroups, 3000},
	{"a group begins for an earlier start", bugNoFence, inGroups, 10_000},
	{"no lock on a queue", bugNoLock, inQueues, 1000},
	{"no fsync of files of a queue", bugNoFileSync, inQueues, 3000},
	{"no fsync of directories of a queue", bugNoDirSync, inQueues, 3000},
	{"a queue acknowledges before the commit", bugAckEarly, inQueues, 1000},
	{"a claimer is its number", bugPIDOnly, inQueues, 10_000},
	{"an epoch that nobody checks", bugOldEpoch, inQueues, 1000},
	{"a task goes to the tail", bugTail, inQueues, 1000},
	{"a program outside a run joins it", bugNoBegin, inOperations, 300},
	{"a run that lives is ended for the next", bugBuriedAlive, inOperations, 1000},
	{"a verb for whatever run there is", bugNoScope, inOperations, 1000},
	{"a dead run that does not end", bugIdleEnd, inOperations, 300},
	{"a cause that did not fail first", bugOtherCause, inOperations, 1000},
	{"a record of an earlier boot is not found", bugOldRecord, inGroups, 3000},
	{"an orderly shutdown is charged", bugUnsignalled, inGroups, 3000},
	{"a container is as old as its machine", bugMachineBoot, inGroups, 3000},
	{"a record counts against a process that lives", bugBelieved, inGroups, 10_000},
	{"a heartbeat revives a service in a set", bugRevivedInSet, inGroups, 40_000},
}

// The checks have to notice the bugs that they are for.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var chosen []kind
			for _, k := range kinds {
				if k.subject() == c.kinds {
					chosen = append(chosen, k)
				}
			}

			w := newWorld(newStats())
			defer w.close()

			for seed := range c.within {
				if err := w.history(seed, chosen, c.bug); err != nil {
					t.Logf("found by history %d, %s: %v", seed, w.kind.name, err)
					return
				}
			}

			t.Errorf("%d histories have not found it", c.within)
		})
	}
}

// Whoever commits by rename under a lock that is but a lease loses edits: that is why there is
// another way.
func TestRenameUnderLeasesLosesEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(newStats())
	defer w.close()

	leased := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.lease && k.subject() == inOperations })]
	leased.commit, leased.powerLoss = fileops.CommitRename, false
	const within = 3000

	for seed := range uint64(within) {
		if err := w.history(seed, []kind{leased}, noBug); err != nil {
			t.Logf("found by history %d: %v", seed, err)
			return
		}
	}

	t.Errorf("%d histories have not found it", within)
}
