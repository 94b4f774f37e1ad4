package play

import (
	"fmt"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/hinshun/vt10x"
)

// Bits of the mode of a glyph: bold text, and the end of a row that is continued in the next one.
const (
	bold    = 1 << 2
	wrapped = 1 << 6
)

// lines returns what rows of the screen show, from first up to end. What was too long for a row,
// and went on in the next, is one line.
func (s *shell) lines(first, end int) (all []draw.Line, err error) {
	columns, _ := s.screen.Size()
	goesOn := false
	for y := first; y < end; y++ {
		if !goesOn {
			all = append(all, draw.Line{})
		}

		l := &all[len(all)-1]
		for x := range columns {
			c, err := cell(s.screen.Cell(x, y))
			if err != nil {
				return nil, err
			}
			l.Cells = append(l.Cells, c)
		}

		if goesOn = s.screen.Cell(columns-1, y).Mode&wrapped != 0; !goesOn {
			l.Cells = trim(l.Cells)
		}
	}

	return all, nil
}

// wrap cuts lines that are too long for the terminal, as it does.
func wrap(lines []draw.Line, columns int) (all []draw.Line) {
	for _, l := range lines {
		for len(l.Cells) > columns {
			all = append(all, draw.Line{Cells: l.Cells[:columns]})
			l.Cells = l.Cells[columns:]
		}
		all = append(all, l)
	}
	return all
}

// cell returns what a picture shows for a glyph.
func cell(g vt10x.Glyph) (draw.Cell, error) {
	c := draw.Cell{Rune: max(g.Char, ' ')}
	switch {
	case c.Rune == ' ':
	case g.BG != vt10x.DefaultBG || g.Mode&^(bold|wrapped) != 0:
		return c, fmt.Errorf("no picture has the background or mode of %q", c.Rune)
	case g.FG == vt10x.DefaultFG && g.Mode&bold != 0:
		c.Tone = draw.Strong
	case g.FG == vt10x.DefaultFG:
		c.Tone = draw.Plain
	case g.FG == vt10x.DarkGrey:
		c.Tone = draw.Faint
	case g.FG == vt10x.Red, g.FG == vt10x.LightRed:
		c.Tone = draw.Bad
	case g.FG == vt10x.Green, g.FG == vt10x.LightGreen:
		c.Tone = draw.Good
	case g.FG == vt10x.Yellow, g.FG == vt10x.LightYellow:
		c.Tone = draw.Warn
	default:
		return c, fmt.Errorf("no picture has colour %d", g.FG)
	}

	return c, nil
}

// typed returns the line of a command at the prompt. A comment has its own colour.
func typed(command string) draw.Line {
	l := draw.Line{Typed: true}
	tone, quoted := draw.Plain, rune(0)
	for i, r := range []rune(prompt + command) {
		switch {
		case i < len(prompt):
			l.Cells = append(l.Cells, draw.Cell{Rune: r, Tone: draw.Faint})
			continue
		case quoted == r:
			quoted = 0
		case quoted == 0 && (r == '\'' || r == '"'):
			quoted = r
		case quoted == 0 && r == '#' && l.Cells[i-1].Rune == ' ':
			tone = draw.Comment
		}
		l.Cells = append(l.Cells, draw.Cell{Rune: r, Tone: tone})
	}

	return l
}
