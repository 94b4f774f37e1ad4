// Package draw draws what a terminal shows as SVG: one file for light and dark, still or animated.
//
// It is pure, so the same [Picture] is always the same bytes. Each run of text has its exact place
// and length, so that nothing shifts with another font. A program that knows no animation, or whose
// user wants none, shows the last frame.
package draw

import (
	"strings"
	"time"
)

// A Picture is a terminal of a size in characters. It shows its slides one after the other; a still
// picture shows only the last. Or it is a page in a browser.
type Picture struct {
	Title    string
	Columns  int
	Rows     int
	Animated bool
	Slides   []Slide
	Page     Page
}

// A Slide is what is shown between two clearings of the screen. It scrolls if it has more lines
// than the picture has rows.
type Slide []Line

// A Line is a line of the terminal.
type Line struct {
	Cells []Cell
	Typed bool          // at the prompt, so that it comes letter by letter
	Pause time.Duration // after it
}

// A Cell is a character and how it is drawn.
type Cell struct {
	Rune rune
	Tone Tone
}

// A Tone is the colour of a text.
type Tone int

// The tones of commands, and that of what people type as a comment.
const (
	Plain Tone = iota
	Strong
	Good
	Warn
	Bad
	Faint
	Comment
)

// Text returns the text of a picture, which is all that a reader without eyes gets.
func (p Picture) Text() string {
	if p.Page.HTML != "" {
		return p.Page.text()
	}

	var b strings.Builder
	for i, s := range p.Slides {
		if i > 0 {
			b.WriteString("\n")
		}

		for _, l := range s {
			b.WriteString(l.String() + "\n")
		}
	}

	return b.String()
}

// String returns the text of a line.
func (l Line) String() string {
	var b strings.Builder
	for _, c := range l.Cells {
		b.WriteRune(c.Rune)
	}
	return strings.TrimRight(b.String(), " ")
}

// A run is adjacent text in one tone.
type run struct {
	column int
	text   string
	tone   Tone
}

// runs returns the text of a line in pieces. Two spaces end a piece, so that each column of a table
// has its own place.
func (l Line) runs() (all []run) {
	var now *run
	for i, c := range l.Cells {
		gap := c.Rune == ' ' && (i+1 == len(l.Cells) || l.Cells[i+1].Rune == ' ' ||
			now == nil || l.Cells[i+1].Tone != now.tone)
		switch {
		case gap:
			now = nil
		case now != nil && (c.Tone == now.tone || c.Rune == ' '):
			now.text += string(c.Rune)
		default:
			all = append(all, run{i, string(c.Rune), c.Tone})
			now = &all[len(all)-1]
		}
	}

	return all
}
