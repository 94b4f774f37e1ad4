// Package view draws operations and groups as text for people: call stacks and dependencies as trees, with ages, states and
// who supervises whom. It is pure: what is seen comes in, text comes out.
package view

import "strings"

// A Style is how to draw: for which terminal, if for one.
type Style struct {
	Width  int  // in columns; 0: as wide as it needs to be, and nothing is cut
	ASCII  bool // draw with no other characters
	Colour bool
}

// A tone is what a text means for the reader, as a colour.
type tone int

const (
	plain  tone = iota
	strong      // what this is about
	good
	warn
	bad
	faint // what matters least
)

var codes = [...]string{strong: "1", good: "32", warn: "33", bad: "31", faint: "2"}

// paint returns text in the colour of t.
func (s Style) paint(t tone, text string) string {
	if !s.Colour || t == plain || text == "" {
		return text
	}
	return "\x1b[" + codes[t] + "m" + text + "\x1b[0m"
}

// glyphs are the pieces of a tree. A branch and a stem are as wide as each other.
type glyphs struct{ branch, last, stem, gap string }

// glyphs returns the pieces for a tree of so many levels: a deep one is drawn with narrow ones.
func (s Style) glyphs(levels int) glyphs {
	const deep = 8
	switch {
	case s.ASCII && levels > deep:
		return glyphs{"| ", "` ", "| ", "  "}
	case s.ASCII:
		return glyphs{"|- ", "`- ", "|  ", "   "}
	case levels > deep:
		return glyphs{"├ ", "└ ", "│ ", "  "}
	}
	return glyphs{"├─ ", "└─ ", "│  ", "   "}
}

// dots is what stands for what was cut out.
func (s Style) dots() string {
	if s.ASCII {
		return ".."
	}
	return "…"
}

// toneOf returns the tone of a word for a state or verdict.
func toneOf(word string) tone {
	switch word {
	case "running", "alive", "active", "completed", "ready":
		return good
	case "aborted", "cleanup", "cleaningUp", "waitingForDependencies", "restartScheduled", "shuttingDown", "starting", "stopping":
		return warn
	case "failed", "crashed", "dead", "exited", "rebooted", "stale", "supervisorDead", "missing":
		return bad
	case "cleanedUp", "stopped", "-", "none":
		return faint
	}
	return plain
}

// state returns a cell of a state or verdict.
func state(word string) cell { return cell{text: word, tone: toneOf(word)} }

// pad returns text, which is so many columns wide, filled up with blanks to width.
func pad(text string, is, width int) string { return text + strings.Repeat(" ", max(width-is, 0)) }

// Foot returns text as what matters least.
func (s Style) Foot(text string) string { return s.paint(faint, text) }

// Mood is what a word for a state or verdict means for the reader: good, warn, bad, or idle.
func Mood(word string) string {
	switch toneOf(word) {
	case good:
		return "good"
	case warn:
		return "warn"
	case bad:
		return "bad"
	}
	return "idle"
}
