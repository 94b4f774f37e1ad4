package view

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
)

// Clean returns text without what a terminal would obey, or would turn around: others have written it.
func Clean(text string) string { return harmless.Text(text) }

// wide are the characters that take two columns, roughly.
var wide = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
	{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
}, R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}}}

// columns returns how many columns text takes.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200b' || r == '\u200d':
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// head returns the longest beginning of text that takes at most width columns.
func head(text string, width int) string {
	for i, r := range text {
		if width -= columnsOf(r); width < 0 {
			return text[:i]
		}
	}
	return text
}

// wrap breaks text into lines of at most width columns, at blanks if it can; 0: one line.
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

// Ago says how long ago something was.
func Ago(age time.Duration) string {
	if age < 0 {
		return "in " + Span(-max(age, -math.MaxInt64)) // what is too long is the least there is
	}
	return Span(age) + " ago"
}

// Span says how long something takes, as exactly as one cares.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Minute:
		return d.Truncate(time.Second).String()
	}
	return d.Truncate(time.Millisecond).String()
}

// Stamp returns t as it is in the files.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
