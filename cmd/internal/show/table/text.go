package table

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// widths is independent of the locale: a piece of a tree is one column wide.
var widths = runewidth.Condition{StrictEmojiNeutral: true}

// columns returns the number of columns of text. At the first character above U+02FF the library
// builds tables, which takes 1.4 ms; the pieces of a tree and dots are counted without it.
func columns(text string) int {
	const drawn = "├└│─…▓░"
	others := func(r rune) bool { return r >= utf8.RuneSelf && !strings.ContainsRune(drawn, r) }
	if !strings.ContainsFunc(text, others) {
		return utf8.RuneCountInString(text)
	}
	return widths.StringWidth(text)
}

// head returns the longest prefix of text with at most width columns.
func head(text string, width int) string { return widths.Truncate(text, width, "") }

// wrap breaks text into lines of at most width columns, at spaces if possible. 0 means a single
// line.
func wrap(text string, width int) (lines []string) {
	if width <= 0 {
		return []string{text}
	}

	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && columns(line)+1+columns(word) <= width {
			line += " " + word
			continue
		}

		if line != "" {
			lines = append(lines, line)
		}

		for line = word; columns(line) > width; {
			begin := head(line, width)
			if begin == "" {
				_, size := utf8.DecodeRuneInString(line)
				begin = line[:size]
			}
			lines, line = append(lines, begin), line[len(begin):]
		}
	}

	if line != "" || lines == nil {
		lines = append(lines, line)
	}

	return lines
}

// note returns the lines of a text that may be long: one if s folds it.
func (s Style) note(text string, width int) []string {
	if s.Fold && width > 0 && columns(text) > width {
		return []string{head(text, max(width-columns(s.dots()), 0)) + s.dots()}
	}
	return wrap(text, width)
}
