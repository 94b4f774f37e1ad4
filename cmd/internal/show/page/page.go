// Package page renders operations, groups and queues as a single HTML page that needs no other
// file and no script: first what is wrong, and the commands that cure it; then the calls as a tree,
// events on a time axis, services with their restarts and alerts, tasks with those who have them,
// questions, and records. It is pure. The page is also well-formed XML, so that a test can parse it
// strictly.
//
// This package decides what a page shows; page.html and style.css decide how it looks.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Page is the content to show.
type Page struct {
	Title      string
	Now        time.Time
	Operations []model.Operation
	Groups     []Group
	Queues     []model.Queue
	Warnings   []string // errors of files that could not be read
	Whole      bool     // the page shows a whole ledger; what needs no attention is folded

	Ledger  string             // the directory, for the commands; "": it is not told
	Refresh time.Duration      // how often a browser reads the page again; 0: never
	Records map[string]*Record // by Name
}

// A Group is a group with its alerts, oldest first.
type Group struct {
	model.Group
	Alerts []group.Alert
}

//go:embed page.html
var layout string

//go:embed style.css
var style string // for light and dark mode, and for wide screens and phones

// Text returns the page as HTML.
func (p Page) Text() string {
	// Parsed here because most runs of a command that can write a page write none.
	page := template.Must(template.New("page").Funcs(template.FuncMap{
		"alertMood": alertMood, "alertWord": alertWord, "mood": mood, "stamp": wire.FormatTime,
		"span": explain.Span,
	}).Parse(layout))

	var out strings.Builder
	if err := page.Execute(&out, p.content()); err != nil {
		panic(err) // page.html uses a field that does not exist
	}
	return clean(out.String())
}

// mood is table.Mood for a word of any string type.
func mood(word any) string { return table.Mood(fmt.Sprint(word)) }

// clean returns a page in which all text is drawn that others may have written. Its own is plain.
func clean(page string) string { return strings.Join(harmless.Lines(page), "\n") }

// The content of a page, with the fields that page.html uses.
type content struct {
	Page
	Style    template.CSS
	Seconds  int64 // of Refresh
	Chips    []chip
	Troubles []trouble
	Others   []trouble // those beyond the first
	Filter   *filter
	Subjects []subject
}

// A chip is a count for the whole ledger.
type chip struct{ Mood, Count, Text string }

// A subject is an operation, a group or a queue.
type subject struct {
	Folds, Open           bool
	Anchor, ID, Class     string
	kind                  kind
	State, Mood, Headline string
	Facts                 []fact
	Halts                 []string // why nothing is claimed
	Transitions           []protocol.Transition
	Main, More            tree // above and below the timeline
	Timeline              *timeline
	Alerts                []group.Alert // newest first
	Entries               *entries
	Record                *recordView
	Short                 bool // it has no body, because there are many others
	Below                 bool // it is not the one that the page is named after
}

// A fact is a name with a value.
type fact struct{ Name, Value string }

// facts returns the facts that have a value. texts alternates names and values.
func facts(texts ...string) (all []fact) {
	for i := 0; i < len(texts); i += 2 {
		if texts[i+1] != "" {
			all = append(all, fact{texts[i], texts[i+1]})
		}
	}
	return all
}

func (p Page) content() content {
	const most = 20 // troubles are shown at once
	c := content{Page: p, Style: template.CSS(style), Chips: p.chips(), Troubles: p.troubles(),
		Seconds: int64((p.Refresh + time.Second - 1) / time.Second)}
	c.Subjects = p.subjects(c.Troubles)
	if len(c.Troubles) > most {
		c.Troubles, c.Others = c.Troubles[:most], c.Troubles[most:]
	}

	var counts [kindCount]int
	for _, s := range c.Subjects {
		counts[s.kind]++
	}
	c.Filter = filterOf("filter", counts)
	return c
}

// subjects returns what there is on the page: first what is in trouble, then what goes on. Where
// there is much, only what is in trouble is unfolded; and where there is very much, the rest has no
// body.
func (p Page) subjects(troubles []trouble) (all []subject) {
	troubled := make(map[string]bool)
	for _, t := range troubles {
		troubled[t.Where] = true
	}

	add := func(kind, id string, s subject) {
		s.Anchor, s.Record = anchor(kind, id), p.recordOf(kind, id)
		if troubled[s.Anchor] {
			s.kind = inTrouble
		}
		s.Class = kindsOf(s.kind).class()
		all = append(all, s)
	}
	for _, op := range p.Operations {
		add("operation", op.ID, operationSubject(op))
	}
	for _, g := range p.Groups {
		add("group", g.ID, groupSubject(g))
	}
	for _, q := range p.Queues {
		add("queue", q.ID, queueSubject(q))
	}

	slices.SortStableFunc(all, func(a, b subject) int { return cmp.Compare(a.kind, b.kind) })
	const few, many = 8, 150
	for i := range all {
		s := &all[i]
		s.Folds, s.Below = p.Whole, s.ID != p.Title
		s.Open = s.kind == inTrouble && i < 2*few || s.kind == goingOn && len(all) <= few
		s.Short = p.Whole && i >= many && s.kind != inTrouble
	}
	return all
}

// chips counts the operations by state, the groups and the queues.
func (p Page) chips() (all []chip) {
	counts := make(map[protocol.State]int)
	for _, op := range p.Operations {
		counts[op.State]++
	}

	for _, state := range []protocol.State{protocol.Running, protocol.Aborted, protocol.Cleanup,
		protocol.Failed, protocol.Completed} {
		if n := counts[state]; n > 0 {
			all = append(all, chip{mood(state), fmt.Sprint(n), string(state)})
		}
	}

	if n := len(p.Groups); n > 0 {
		all = append(all, chip{Text: explain.Plural(n, "group")})
	}
	if n := len(p.Queues); n > 0 {
		all = append(all, chip{Text: explain.Plural(n, "queue")})
	}

	return all
}
