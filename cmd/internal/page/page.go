// Package page writes what is known of operations and groups as one page for a browser, which needs
// no other file and no script: the stack as a tree, what has happened on an axis of time, services
// with their restarts and alerts. It is pure, and what it writes is well-formed XML, too, so that a
// test can read it strictly.
//
// What a page shows is worked out here; how it looks is in page.html and style.css.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// A Page is what to show.
type Page struct {
	Title      string
	Now        time.Time
	Operations []view.Operation
	Groups     []Group
	Warnings   []string // what could not be read
	Whole      bool     // it is about a whole ledger: what is over is folded
}

// A Group is one with its alerts, oldest first.
type Group struct {
	view.Group
	Alerts []protocol.Alert
}

//go:embed page.html
var layout string

//go:embed style.css
var style string // for light and dark, for a wide screen and a phone

// Text returns the page.
func (p Page) Text() string {
	// Parsed here, since most calls of a command that can write a page write none.
	page := template.Must(template.New("page").Funcs(template.FuncMap{
		"alertMood": alertMood, "alertWord": alertWord, "mood": mood, "stamp": view.Stamp,
	}).Parse(layout))

	var out strings.Builder
	if err := page.Execute(&out, p.content()); err != nil {
		panic(err) // page.html asks for what is not there
	}
	return clean(out.String())
}

// mood is view.Mood for a word of any type.
func mood(word any) string { return view.Mood(fmt.Sprint(word)) }

// clean returns a page without what would turn its text around, and without what XML does not
// allow: others have written it.
func clean(page string) string {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		lines[i] = view.Clean(line)
	}
	const replacement = "\ufffd"
	return strings.NewReplacer("\ufffe", replacement, "\uffff", replacement).Replace(strings.Join(lines, "\n"))
}

// The content of a page, as page.html asks for it.
type content struct {
	Page
	Style    template.CSS
	Chips    []chip
	Subjects []subject
}

// A chip counts what a ledger has.
type chip struct{ Mood, Count, Text string }

// A subject is an operation or a group.
type subject struct {
	Folds, Open           bool
	ID                    string
	State, Mood, Headline string
	Facts                 []fact
	Transitions           []protocol.Transition
	Main, More            tree // above and below the timeline
	Timeline              *timeline
	Alerts                []protocol.Alert // newest first
	Entries               *entries
}

// A fact is a name and what it stands for.
type fact struct{ Name, Value string }

// facts returns those of names and values, in turn, that have a value.
func facts(texts ...string) (all []fact) {
	for i := 0; i < len(texts); i += 2 {
		if texts[i+1] != "" {
			all = append(all, fact{texts[i], texts[i+1]})
		}
	}
	return all
}

func (p Page) content() content {
	c := content{Page: p, Style: template.CSS(style), Chips: p.chips()}
	for _, op := range p.Operations {
		s := operationSubject(op)
		s.Folds, s.Open = p.Whole, !op.State.Terminal()
		c.Subjects = append(c.Subjects, s)
	}
	for _, g := range p.Groups {
		s := groupSubject(g)
		s.Folds, s.Open = p.Whole, true
		c.Subjects = append(c.Subjects, s)
	}
	return c
}

// chips counts the operations by their state, and the groups.
func (p Page) chips() (all []chip) {
	counts := make(map[protocol.State]int)
	for _, op := range p.Operations {
		counts[op.State]++
	}
	for _, state := range []protocol.State{protocol.Running, protocol.Aborted, protocol.Cleanup, protocol.Failed, protocol.Completed} {
		if n := counts[state]; n > 0 {
			all = append(all, chip{mood(state), fmt.Sprint(n), string(state)})
		}
	}
	if n := len(p.Groups); n > 0 {
		all = append(all, chip{Text: count(n, "group")})
	}
	return all
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
