//go:build linux

package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// An outcome is what the ledger says after some commands, and how they ended.
type outcome struct {
	statuses []int
	facts    facts
	said     string // by the commands of a pair
}

// next tidies up, and runs the subject once more, like a user who does not know how the first run
// ended.
func (tr *trial) next() outcome {
	clean := tr.do
	clean.argv = []string{"dpl-cleanup", "--if-exists"}
	var o outcome

	for _, s := range []step{clean, tr.do} {
		got := tr.world.run(s.with("--lock-timeout", "2s"))
		o.statuses = append(o.statuses, got.status)
		if got.status == 75 && !tr.open || got.status == blocked {
			tr.count["blocked"]++
			tr.t.Errorf("%v: %v", s, got)
		}
	}

	o.facts = tr.see()
	tr.world.run(clean.with("--lock-timeout", "2s")) // the first one may have found no ledger to tidy
	return o
}

// judge looks at what the subject has left when f had happened.
func (tr *trial) judge(f fault, got traced) {
	now := tr.see()
	var want *outcome
	switch {
	case now.equal(tr.old):
		tr.count["old"]++
		want = &tr.afterOld
	case now.equal(tr.new):
		tr.count["new"]++
		want = &tr.afterNew
	case tr.several:
		tr.count["part"]++
	default:
		tr.count["torn"]++
		tr.t.Errorf("%v: neither the old state nor the new one:\n%s", f, now.differences(tr.new))
	}

	if f.errno != "" {
		tr.checkStatus(f, got.result, now)
	}

	if f.errno != "" && f.name == "fsync" && !tr.mayFail(f.call) && got.result.status == tr.status {
		tr.count["lies"]++
		tr.t.Errorf("%v: it is done, it says, but may not survive a power cut", f)
	}

	tr.recover(f, want)
}

// mayFail reports whether the subject may succeed although c fails. A pass that cannot reserve an
// exit record goes on: that start has failed (spec §19.2).
func (tr *trial) mayFail(c call) bool {
	return strings.Contains(c.on, "/L/exits") ||
		tr.optional != "" && strings.Contains(c.on, tr.optional)
}

// checkStatus checks that a status is the truth, after what happened.
func (tr *trial) checkStatus(what fmt.Stringer, got result, now facts) {
	tr.t.Helper()
	changed, made := !now.equal(tr.old), now.equal(tr.new) || tr.several && !now.equal(tr.old)
	lie := ""

	switch {
	case got.status == tr.status && !made:
		lie = "it is done, it says, but is not"
	case got.status == 71 && !changed:
		lie = "it is committed, it says, but nothing changed"
	case got.status != tr.status && got.status != 71 && changed && !tr.beyond &&
		!slices.Contains(tr.answers, got.status):
		lie = "nothing changed, it says, but something did"
	case !slices.Contains(append([]int{tr.status, 71, 73, 74}, tr.answers...), got.status):
		lie = "not a status for this"
	default:
		return
	}

	tr.count["lies"]++
	tr.t.Errorf("%v: %s: %v", what, lie, got)
}

// recover continues after f: no one is blocked, the result is the same as without f, and nothing is
// left behind.
func (tr *trial) recover(f fault, want *outcome) {
	got := tr.next()
	if want != nil && !tr.loose && (!slices.Equal(got.statuses, want.statuses) ||
		!got.facts.equal(want.facts)) {
		tr.count["torn"]++
		tr.t.Errorf("%v: the next commands exit %v, want %v\n%s", f, got.statuses, want.statuses,
			got.facts.differences(want.facts))
	}

	if tr.settled != nil {
		tr.settle(f)
	}

	if left := tr.leftovers(); left != nil {
		tr.count["left"]++
		tr.t.Errorf("%v: left about: %q", f, left)
	}
}

// settle makes further passes until what the subject has set in motion is as it should be.
func (tr *trial) settle(f fault) {
	later, why := pass, ""
	ok := poll.Within(poll.Patience, func() bool {
		if why = tr.settled(tr.world); why != "" {
			later.at = min(later.at+time.Second, 8*time.Second)
			tr.world.run(later)
		}
		return why == ""
	})

	if !ok {
		tr.t.Errorf("%v: %s", f, why)
	}

	tr.see()
}
