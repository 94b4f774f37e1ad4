package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/explain"
)

// A trouble is one of a subject of the page.
type trouble struct {
	explain.Trouble
	Where string // the anchor of its subject
	ID    string // of its subject
	Kind  string // of its subject; "": it is a file that cannot be read
}

// troubles returns what is wrong on the page, the worst first.
func (p Page) troubles() (all []trouble) {
	for _, text := range p.Warnings {
		all = append(all, trouble{Trouble: explain.Trouble{Rank: explain.ByFile, Mood: "bad", What: text,
			More: []explain.Cure{{
				Command: "dpl-doctor", Does: "finds what is wrong with the ledger"}}}})
	}
	for _, op := range p.Operations {
		all = append(all, at("operation", op.ID, explain.OperationTroubles(op))...)
	}
	for _, g := range p.Groups {
		all = append(all, at("group", g.ID, explain.GroupTroubles(g.Group))...)
	}
	for _, q := range p.Queues {
		all = append(all, at("queue", q.ID, explain.QueueTroubles(q))...)
	}
	for name, r := range p.Records {
		kind, id, _ := strings.Cut(name, " ")
		all = append(all, at(kind, id, r.troubles(kind, id))...)
	}

	slices.SortStableFunc(all, func(a, b trouble) int {
		if a.Rank == b.Rank && a.Rank == explain.ByFile {
			return cmp.Compare(a.ID, b.ID) // records come in no order
		}
		return cmp.Compare(a.Rank, b.Rank)
	})
	return all
}

// at returns troubles as those of a subject.
func at(kind, id string, found []explain.Trouble) (all []trouble) {
	for _, t := range found {
		all = append(all, trouble{t, anchor(kind, id), id, kind})
	}
	return all
}

// anchor returns the id of the element of a subject.
func anchor(kind, id string) string { return kind + "-" + id }
