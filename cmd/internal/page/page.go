// Package page writes what is known of operations and groups as one page for a browser, that needs no other file and no script: the
// stack as a tree, what has happened on an axis of time, supervisors with their restarts and alerts. It is pure, and what it
// writes is well-formed XML, too, so that a test can read it strictly.
package page

import (
	"fmt"
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

// policy lets the browser load nothing and run nothing, even if a text that others have written were taken for markup.
const policy = "default-src 'none'; style-src 'unsafe-inline'"

// Text returns the page.
func (p Page) Text() string {
	w := &writer{now: p.Now}
	w.raw("<!DOCTYPE html>\n")
	w.open("html", "lang", "en")
	w.open("head")
	w.void("meta", "charset", "utf-8")
	w.void("meta", "http-equiv", "Content-Security-Policy", "content", policy)
	w.void("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
	w.void("meta", "name", "color-scheme", "content", "light dark")
	w.element("title", "", p.Title+" · DPL")
	w.open("style")
	w.raw(style)
	w.close()
	w.close()
	w.open("body")
	p.top(w)
	p.body(w)
	w.element("footer", "", "Written by dpl-status --html. This page loads nothing and runs nothing.")
	w.close()
	w.close()
	return w.String() + "\n"
}

// top writes whose page this is. One subject says it itself.
func (p Page) top(w *writer) {
	w.open("header", "class", "top")
	if p.Whole {
		w.element("h1", "", p.Title)
	}
	w.open("p", "class", "meta")
	w.text("DPL, as seen at ")
	w.time(p.Now)
	w.close()
	w.close()
}

func (p Page) body(w *writer) {
	w.open("main")
	for _, text := range p.Warnings {
		w.element("p", "warning", text)
	}
	if p.Whole {
		p.summary(w)
	}
	for _, op := range p.Operations {
		state := badge{word: string(op.State), mood: view.Mood(string(op.State))}
		if op.Undiscovered() > 0 {
			state.mood = "bad"
		}
		w.section(p.Whole, !op.State.Terminal(), op.ID, state, headline(op), func() { w.operation(op) })
	}
	for _, g := range p.Groups {
		state := badge{word: g.Orchestrated(), mood: view.Mood(g.Orchestrated())}
		headline := fmt.Sprintf("group of %s, %d running", count(len(g.Registry.Services), "supervisor"), g.Running())
		if n := g.Troubled(); n > 0 {
			state.mood = "bad"
			headline += fmt.Sprintf(", %d in trouble", n)
		}
		w.section(p.Whole, true, g.ID, state, headline, func() { w.group(g) })
	}
	w.close()
}

// summary counts the operations by their state.
func (p Page) summary(w *writer) {
	counts := make(map[protocol.State]int)
	for _, op := range p.Operations {
		counts[op.State]++
	}
	w.open("p", "class", "summary")
	for _, state := range []protocol.State{protocol.Running, protocol.Aborted, protocol.Cleanup, protocol.Failed, protocol.Completed} {
		if counts[state] > 0 {
			w.open("span", "class", "chip "+view.Mood(string(state)))
			w.element("b", "", fmt.Sprint(counts[state]))
			w.text(" " + string(state))
			w.close()
		}
	}
	if len(p.Groups) > 0 {
		w.open("span", "class", "chip")
		w.text(count(len(p.Groups), "group"))
		w.close()
	}
	if len(p.Operations)+len(p.Groups) == 0 {
		w.text("There is no operation and no group.")
	}
	w.close()
}

func headline(op view.Operation) string {
	text := count(len(op.Stack), "call")
	if n := op.Crashed(); n > 0 {
		text += fmt.Sprintf(", %d crashed", n)
	}
	if n := op.Undiscovered(); n > 0 {
		text += fmt.Sprintf(", %d dead and not found yet", n)
	}
	return text + ", last heartbeat " + view.Ago(op.Seen.Now.Sub(op.LastHeartbeat))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A badge is a word for a state, and what it means for the reader.
type badge struct{ word, mood string }

// section writes one subject, which the reader can unfold where there are others.
func (w *writer) section(folds, open bool, id string, state badge, headline string, body func()) {
	outer, inner, heading := "section", "div", "h1"
	if folds {
		outer, inner, heading = "details", "summary", "h2"
	}
	attributes := []string{"class", "subject"}
	if folds && open {
		attributes = append(attributes, "open", "open")
	}
	w.open(outer, attributes...)
	w.open(inner, "class", "subject-head")
	w.element(heading, "", id)
	w.element("span", "pill "+state.mood, state.word)
	w.element("span", "meta", headline)
	w.close()
	w.open("div", "class", "subject-body")
	body()
	w.close()
	w.close()
}
