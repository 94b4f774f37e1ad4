//go:build linux

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Result is one line of the table.
type Result struct {
	FS, Version, Options, Commit string
	Left                         string `json:",omitempty"` // why it was not run
	Cuts                         int    // how often host a was cut off
	Stuck                        bool   // a host hung in a system call, and the rest was not run

	Wanted, Acked int
	Lost          int            // acknowledged edits that are not there, or were not when the next was made
	Same          int            // acknowledged edits with the revision of another one
	Missing       []string       `json:",omitempty"` // acknowledged edits without effect
	Order         int            // acknowledged edits with a revision that is not above those acknowledged before they began
	Contradicted  []string       `json:",omitempty"` // edits that were refused but took effect
	Statuses      map[string]int // by status, other than 0; of readers with "status " before it
	Texts         []string       `json:",omitempty"` // the first message of each
	MsPerEdit     float64

	Reads, BadReads int // that ended otherwise than with 0
	Torn            int // of the bad ones: not valid
	Backwards       int // reads older than one that this reader had had before
	StaleMs         float64
	StaleRevisions  int64
	WatchedReads    int // of a host that only reads
	WatchedStaleMs  float64

	Zombies []Zombie `json:",omitempty"`
	Queues  []Queue  `json:",omitempty"` // of a run with a queue, which has nothing else of these
}

// count fills in the results from the records of all commands and one more push: the calls that are
// open after it, and its revision.
func (r *Result) count(all []record, open map[string]bool, revision int64, took time.Duration) {
	r.Statuses = map[string]int{}
	var acked, reads []record
	for _, rec := range all {
		switch {
		case rec.Verb == "status":
			reads = append(reads, rec)
			continue
		case rec.Status == 0 && rec.Changed:
			acked = append(acked, rec)
		case rec.Status == 0:
			r.Contradicted = append(r.Contradicted,
				rec.Verb+" "+rec.Call+": refused, then found done")
		}

		r.note(rec)
	}

	r.Acked = len(acked)
	r.MsPerEdit = float64(took.Microseconds()) / 1000 / float64(max(1, len(acked)))
	r.Same = sameRevision(acked)
	r.Order = outOfOrder(acked)
	r.effects(all, open)
	gap := 1 + len(acked) + 1 - int(revision)
	r.Lost = max(r.Same, len(r.Missing), gap)
	r.Missing = r.Missing[:min(len(r.Missing), 5)] // examples are enough
	r.countReads(reads, acked)
}

func (r *Result) note(rec record) {
	if rec.Status == 0 {
		return
	}

	key := fmt.Sprint(rec.Status)
	if rec.Verb == "status" {
		key = "status " + key
	}
	if r.Statuses[key]++; r.Statuses[key] == 1 {
		r.Texts = append(r.Texts, key+": "+rec.Text)
	}
}

// sameRevision counts the edits with the revision of another edit. The first revision is that of
// the root call.
func sameRevision(acked []record) (same int) {
	seen := map[int64]bool{1: true}
	for _, rec := range acked {
		if seen[rec.Revision] {
			same++
		}
		seen[rec.Revision] = true
	}
	return same
}

// outOfOrder counts the edits that began after another was acknowledged but have no higher
// revision.
func outOfOrder(acked []record) (count int) {
	byStart := slices.SortedFunc(slices.Values(acked),
		func(a, b record) int { return cmp.Compare(a.Start, b.Start) })
	byEnd := slices.SortedFunc(slices.Values(acked),
		func(a, b record) int { return cmp.Compare(a.End, b.End) })
	var before int64
	ended := 0

	for _, rec := range byStart {
		for ; ended < len(byEnd) && byEnd[ended].End < rec.Start; ended++ {
			before = max(before, byEnd[ended].Revision)
		}
		if rec.Revision <= before {
			count++
		}
	}

	return count
}

// effects compares the answers to each call's commands with the calls that are open in the end.
func (r *Result) effects(all []record, open map[string]bool) {
	type fate struct{ pushed, popped, unknown bool }
	calls := map[string]fate{rootCall: {pushed: true}}
	for _, rec := range all {
		f := calls[rec.Call]
		switch done := rec.Status == 0; {
		case rec.Verb == "status":
			continue
		case done && rec.Verb == "push":
			f.pushed = true
		case done && rec.Verb == "pop":
			f.popped = true
		case !f.unknown && (rec.Status == 66 || rec.Status == 4):
			r.Missing = append(r.Missing, rec.Verb+" "+rec.Call+": no such call, though it was "+
				"pushed")
			f.unknown = true
		case !again(rec.Status) && !done:
			f.unknown = true
		}

		calls[rec.Call] = f
	}

	for call, f := range calls {
		switch {
		case f.unknown:
		case f.pushed && !f.popped && !open[call]:
			r.Missing = append(r.Missing, "push "+call+": not there")
		case f.popped && open[call]:
			r.Missing = append(r.Missing, "pop "+call+": still there")
		case !f.pushed && open[call]:
			r.Contradicted = append(r.Contradicted, "push "+call+": refused, but there")
		}
	}

	slices.Sort(r.Missing)
	slices.Sort(r.Contradicted)
}

// countReads evaluates the reads: a read is as stale as the oldest newer edit that was acknowledged
// before it began.
func (r *Result) countReads(reads, acked []record) {
	byEnd := slices.SortedFunc(slices.Values(acked),
		func(a, b record) int { return cmp.Compare(a.End, b.End) })
	last := map[string]int64{}
	r.Reads = len(reads)

	for _, read := range reads {
		if read.Status != 0 {
			r.BadReads++
			if read.Status == 65 {
				r.Torn++
			}
			r.note(read)
			continue
		}

		if read.Revision < last[read.Writer] {
			r.Backwards++
		}

		last[read.Writer] = read.Revision
		late, behind := staleness(read, byEnd)
		r.StaleMs, r.StaleRevisions = max(r.StaleMs, late), max(r.StaleRevisions, behind)
	}
}

// countWatch does that for the reader of a host that does nothing else.
func (r *Result) countWatch(all []record) {
	var acked, reads []record
	for _, rec := range all {
		switch {
		case rec.Status != 0:
		case rec.Verb != "status":
			acked = append(acked, rec)
		case rec.Writer == "reader a":
			reads = append(reads, rec)
		}
	}

	slices.SortFunc(acked, func(a, b record) int { return cmp.Compare(a.End, b.End) })
	r.WatchedReads = len(reads)
	for _, read := range reads {
		late, _ := staleness(read, acked)
		r.WatchedStaleMs = max(r.WatchedStaleMs, late)
	}
}

// staleness returns how long before read an edit that it does not show was acknowledged, in
// milliseconds, and by how many revisions read is behind.
func staleness(read record, byEnd []record) (late float64, behind int64) {
	for _, rec := range byEnd {
		if rec.End >= read.Start {
			break
		}

		if rec.Revision > read.Revision {
			if late == 0 {
				late = float64((read.Start - rec.End).Microseconds()) / 1000
			}
			behind = max(behind, rec.Revision-read.Revision)
		}
	}

	return late, behind
}
