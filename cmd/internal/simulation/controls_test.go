package simulation

import (
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops"
)

// A control puts a bug in and says within how many histories it must be found.
var controls = []struct {
	name   string
	bug    bug
	groups bool
	within int64
}{
	{"no lock", bugNoLock, false, 300},
	{"no lock on a group", bugNoLock, true, 300},
	{"no fsync of files", bugNoFileSync, false, 3000},
	{"no fsync of files of a group", bugNoFileSync, true, 3000},
	{"no fsync of directories", bugNoDirSync, false, 3000},
	{"no fsync of directories of a group", bugNoDirSync, true, 3000},
	{"acknowledge before the commit", bugAckEarly, false, 1000},
	{"look and act in two lock holds", bugTwoHolds, false, 10_000},
	{"a process is its number", bugPIDOnly, true, 10_000},
	{"a file that is not found is empty", bugMissing, false, 1000},
	{"start without the gate", bugNoGate, true, 3000},
	{"a start that may have succeeded has failed", bugNotSilent, true, 10_000},
	{"who cannot be told is no survivor", bugNoDoubt, true, 10_000},
	{"a heartbeat revives a crashed frame", bugRevival, false, 3000},
	{"archived without a countdown", bugNoCountdown, false, 300},
	{"a pass that does nothing", bugIdle, false, 300},
	{"temporary files that stay", bugKeepTemps, false, 300},
	{"a deletion outside the ledger", bugGrab, false, 300},
	{"an alert that is written twice", bugTwice, true, 300},
	{"who lives is stale", bugUnseen, false, 3000},
	{"who lives is stale, in a group", bugUnseen, true, 3000},
	{"a group begins for an earlier start", bugNoFence, true, 10_000},
	{"a heartbeat revives a service in a set", bugRevivedInSet, true, 10_000},
}

// The checks have to notice the bugs that they are for.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var chosen []kind
			for _, k := range kinds {
				if k.groups == c.groups {
					chosen = append(chosen, k)
				}
			}

			w := newWorld(newStats())
			defer w.close()

			for seed := range uint64(c.within) {
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

	leased := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.lease && !k.groups })]
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
