package page

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
)

// A Record is the end of the record of an object (spec §51), with what is known of the rest.
type Record struct {
	Seq      int64    // the number of the last line
	Head     string   // its hash
	Verified bool     // the lines were compared with each other and with the file
	Findings []string // what is wrong with them
	Unread   string   // why it cannot be read
	Lines    []RecordLine
}

// A RecordLine is a line of a record.
type RecordLine struct {
	Seq  int64
	At   time.Time
	Verb string
	Who  string
	What []string // what it tells of, in words
}

// Name returns the name that a record has among those of a page.
func Name(kind, id string) string { return kind + " " + id }

// troubles returns what is wrong with the record of an object.
func (r *Record) troubles(kind, id string) []explain.Trouble {
	what := ""
	switch {
	case r.Unread != "":
		what = "the record cannot be read: " + r.Unread
	case len(r.Findings) > 0:
		what = "the record does not hold: " + explain.Some(r.Findings)
	default:
		return nil
	}
	return []explain.Trouble{{Rank: explain.ByFile, Mood: "bad", What: what,
		More: []explain.Cure{{Command: verify(kind, id), Does: "says what is changed or missing"}}}}
}

// verify returns the command that verifies the record of an object.
func verify(kind, id string) string {
	switch kind {
	case "operation":
		return explain.Command("dpl-audit", "--op", id, "--verify")
	case "group":
		return explain.Command("dpl-audit", "--group", id, "--verify")
	}
	return explain.Command("dpl-audit", id, "--verify")
}

// A recordView is a record to be drawn.
type recordView struct {
	*Record
	Mood, Verdict, Command string
}

// recordOf returns the record of a subject, or nil if it has none.
func (p Page) recordOf(kind, id string) *recordView {
	r := p.Records[Name(kind, id)]
	if r == nil {
		return nil
	}

	v := &recordView{Record: r, Command: verify(kind, id)}
	switch {
	case r.Unread != "":
		v.Mood, v.Verdict = "bad", "cannot be read: "+r.Unread
	case len(r.Findings) > 0:
		v.Mood, v.Verdict = "bad", "does not hold: "+explain.Some(r.Findings)
	case r.Verified:
		v.Mood, v.Verdict = "good", "whole, and the file is what it says"
	default:
		v.Mood, v.Verdict = "warn", fmt.Sprintf("not verified here: it has %d lines", r.Seq)
	}
	return v
}
