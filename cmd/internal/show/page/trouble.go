package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A trouble is something that needs a person, or soon will.
type trouble struct {
	rank  rank
	Mood  string
	Where string // the anchor of its subject
	ID    string // of its subject
	Kind  string // of its subject; "": it is a file that cannot be read
	What  string
	Quote []string // lines of a text written by others
	Cures []cure   // the most likely first
}

// A cure is a command that ends a trouble, or explains it.
type cure struct{ Command, Does string }

// A rank orders troubles: what has ended by itself comes before what somebody has stopped.
type rank int

const (
	byFile    rank = iota // a file cannot be read, or has been changed
	byDeath               // something has crashed, failed or died
	byHalt                // somebody has halted it
	byBlock               // it waits for something else
	byAsking              // a person is asked
	byWaiting             // it may yet go on by itself
)

// troubles returns what is wrong on the page, the worst first.
func (p Page) troubles() (all []trouble) {
	for _, text := range p.Warnings {
		all = append(all, trouble{rank: byFile, Mood: "bad", What: text,
			Cures: []cure{{"dpl-doctor", "finds what is wrong with the ledger"}}})
	}
	for _, op := range p.Operations {
		all = append(all, at("operation", op.ID, operationTroubles(op))...)
	}
	for _, g := range p.Groups {
		all = append(all, at("group", g.ID, groupTroubles(g))...)
	}
	for _, q := range p.Queues {
		all = append(all, at("queue", q.ID, p.queueTroubles(q))...)
	}
	for name, r := range p.Records {
		kind, id, _ := strings.Cut(name, " ")
		all = append(all, at(kind, id, r.troubles(kind, id))...)
	}

	slices.SortStableFunc(all, func(a, b trouble) int {
		if a.rank == b.rank && a.rank == byFile {
			return cmp.Compare(a.ID, b.ID) // records come in no order
		}
		return cmp.Compare(a.rank, b.rank)
	})
	return all
}

// at returns troubles as those of a subject.
func at(kind, id string, all []trouble) []trouble {
	for i := range all {
		all[i].Kind, all[i].ID, all[i].Where = kind, id, anchor(kind, id)
	}
	return all
}

// anchor returns the id of the element of a subject.
func anchor(kind, id string) string { return kind + "-" + id }

// isID reports whether a command takes name as an id: others may have written it.
func isID(name string) bool { return wire.CheckID(name) == nil }
