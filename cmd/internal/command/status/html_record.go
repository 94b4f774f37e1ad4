package status

import (
	"errors"
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/recorded"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/page"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
)

// These limit how many lines are verified, of one record and for one page: verifying 20000 takes
// about half a second.
const (
	mostOfOne = 5000
	mostOfAll = 20000
)

// records returns what the page tells of the records of what p shows.
func (s *reporter) records(p *picture) map[string]*page.Record {
	all, verified := make(map[string]*page.Record), int64(0)
	add := func(kind, id string, chain audit.Chain, open func(string) (fileops.Audited, error)) {
		if chain.Seq == 0 {
			return
		}
		if chain.Seq > mostOfOne || verified+chain.Seq > mostOfAll {
			all[page.Name(kind, id)] = &page.Record{Seq: chain.Seq, Head: chain.Head}
			return
		}

		verified += chain.Seq
		r := &page.Record{}
		object, err := open(id)
		if err == nil {
			r, err = record(object)
		}
		if err != nil {
			p.warnings = append(p.warnings, cli.Named("record", id, "", err))
			r = &page.Record{Seq: chain.Seq, Head: chain.Head, Unread: err.Error()}
		}
		all[page.Name(kind, id)] = r
	}

	for _, op := range p.ops {
		add("operation", op.ID, op.Audit, s.ledger.AuditedOperation)
	}
	for _, g := range p.groups {
		add("group", g.ID, g.Registry.Audit, s.ledger.AuditedGroup)
	}
	for _, q := range p.queues {
		add("queue", q.ID, q.Audit, s.ledger.AuditedQueue)
	}
	return all
}

// record returns the end of the record of object, and whether all of it holds.
func record(object fileops.Audited) (*page.Record, error) {
	const shown = 20
	const read = shown + audit.MostBack // who made the edits may be in earlier lines
	v := &audit.Verifier{}
	end, err := recorded.Verify(object, v)
	if err != nil && !errors.Is(err, fileops.ErrNoRecord) {
		return nil, err
	}
	r := &page.Record{Seq: end.Chain.Seq, Head: end.Chain.Head, Verified: true}
	for _, f := range v.Broken() {
		r.Findings = append(r.Findings, f.String())
	}

	var last []audit.Line
	if _, err := object.Read(func(lines []string) { last = newest(last, lines, read) }); err != nil {
		return nil, err
	}
	last = newest(last, end.Chain.Pending, read)
	var authors audit.Authors
	for i := range last {
		authors.Resolve(&last[i])
	}
	for _, l := range slices.Backward(last[max(0, len(last)-shown):]) {
		line := page.RecordLine{Seq: l.Seq, At: l.At, Verb: l.Verb, Who: who(l)}
		for _, e := range object.Events(l) {
			line.What = append(line.What, e.Text)
		}
		r.Lines = append(r.Lines, line)
	}
	return r, nil
}

// newest returns the last most good lines of last and texts. Pending lines may be in both.
func newest(last []audit.Line, texts []string, most int) []audit.Line {
	for _, text := range texts[max(0, len(texts)-most):] {
		l, err := audit.Parse(text)
		if err == nil && (len(last) == 0 || l.Seq > last[len(last)-1].Seq) {
			last = append(last, l)
		}
	}
	return last[max(0, len(last)-most):]
}

// who says who has made an edit.
func who(l audit.Line) string {
	r := model.Record{Line: l, User: l.By.User}
	if n, err := strconv.Atoi(r.User); err == nil {
		r.User = trust.UserName(n)
	}
	return explain.Author(r)
}
