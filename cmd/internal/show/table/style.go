// Package table draws what dpl-status displays as tables and trees, for a terminal or a pipe.
package table

import (
	"cmp"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/explain"
)

// A Style says how to draw, depending on the terminal, if any.
type Style struct {
	Width  int  // in columns; 0: no limit, and nothing is cut
	ASCII  bool // draw only with ASCII characters
	Wide   bool // characters of ambiguous width, as Greek ones, may take two columns
	Colour bool
	Fold   bool // a note takes one line, however long it is
}

// A tone is the meaning of a text for the reader, shown as a colour.
type tone int

const (
	plain  tone = iota
	strong      // the main subject
	good
	warn
	bad
	faint // the least important
)

var codes = [...]string{strong: "1", good: "32", warn: "33", bad: "31", faint: "2"}

// paint returns text in the colour of t.
func (s Style) paint(t tone, text string) string {
	if !s.Colour || t == plain || text == "" {
		return text
	}
	return "\x1b[" + codes[t] + "m" + text + "\x1b[0m"
}

// glyphs are the pieces of a tree. branch and stem have the same width.
type glyphs struct{ branch, last, stem, gap string }

// glyphs returns the pieces for a tree with the given number of levels. A deep tree gets narrow
// ones.
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

// dots returns the replacement for text that was cut out.
func (s Style) dots() string {
	if s.ASCII {
		return ".."
	}
	return "…"
}

// toneOf returns the tone of a word for a state or verdict.
func toneOf(word string) tone {
	switch word {
	case "running", "alive", "active", "completed", "ready", "claimed", "done",
		"allowed", "answered":
		return good
	case "aborted", "cleanup", "cleaningUp", "waitingForDependencies", "restartScheduled",
		"shuttingDown", "starting", "stopping", "halted", "blocked", "uncertain", "tempfail",
		"open", explain.PausedBySignal:
		return warn
	case "failed", "crashed", "dead", "exited", "rebooted", "stale", "supervisorDead", "missing",
		"rejected", "timedOut", "silent", "notStarted", "denied":
		return bad
	case "cleanedUp", "stopped", "-", "none", "cancelled", "expired", "withdrawn":
		return faint
	}

	return plain
}

// state returns a cell for a state or verdict.
func state(word string) cell { return cell{text: word, tone: toneOf(word)} }

// pad returns text, which is is columns wide, padded with spaces to width.
func pad(text string, is, width int) string { return text + strings.Repeat(" ", max(width-is, 0)) }

// Bad returns text in the tone of what has failed.
func (s Style) Bad(text string) string { return s.paint(bad, text) }

// IsBad reports whether a drawn line tells of something that has failed. s has colours.
func (s Style) IsBad(line string) bool { return strings.Contains(line, "\x1b["+codes[bad]+"m") }

// Foot returns text in the least important tone.
func (s Style) Foot(text string) string { return s.paint(faint, text) }

var moods = [...]string{good: "good", warn: "warn", bad: "bad", faint: ""}

// Mood returns the meaning of a state or verdict for the reader: good, warn, bad, or idle.
func Mood(word string) string { return cmp.Or(moods[toneOf(word)], "idle") }
