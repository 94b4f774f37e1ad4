package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/mattn/go-runewidth"
)

// Quote draws a text written by others, all of it: each of its lines is behind a margin, and what
// is too wide goes on in the next line, behind another one. So nothing in it looks like a line of
// DPL, or like a line break that is none.
func (s Style) Quote(text string) string { return s.behindMargin(harmless.Lines(text)) }

// behindMargin draws lines that are drawn by package harmless, as Quote does.
func (s Style) behindMargin(lines []string) string {
	further := "┆ "
	if s.ASCII {
		further = ": "
	}

	var out strings.Builder
	for _, line := range lines {
		margin := s.margin()
		for _, piece := range s.pieces(line, s.Width-s.cells('│')-1) {
			out.WriteString(margin + piece + "\n")
			margin = further
		}
	}
	return out.String()
}

// margin is what stands before each line of a text written by others.
func (s Style) margin() string {
	if s.ASCII {
		return "| "
	}
	return "│ "
}

const emojiStyle = "\ufe0f" // what is before it may take two columns

// pieces cuts a line into pieces of at most width columns, and loses nothing of it.
func (s Style) pieces(line string, width int) (all []string) {
	if s.Width == 0 {
		return []string{line}
	}

	from, taken := 0, 0
	for i, r := range line {
		n := s.cells(r)
		if strings.HasPrefix(line[i+utf8.RuneLen(r):], emojiStyle) {
			n = 2
		}
		if taken+n > width && i > from {
			all = append(all, line[from:i])
			from, taken = i, 0
		}
		taken += n
	}
	return append(all, line[from:])
}

// cells returns the number of columns that r takes at most, on any terminal: of an emoji that is
// made of many, a terminal may draw each.
func (s Style) cells(r rune) int {
	const tab = '⇥'
	switch {
	case r < utf8.RuneSelf, r == tab:
		return 1
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1f000:
		return 2
	}
	wide := runewidth.Condition{EastAsianWidth: s.Wide}
	return max(wide.RuneWidth(r), 1)
}
