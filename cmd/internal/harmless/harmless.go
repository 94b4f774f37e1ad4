// Package harmless draws text written by others, so that people see what it is, and no terminal,
// browser or mail program obeys it.
//
// [Text] draws it in one line, [Lines] with its line breaks as lines, and [JSON] in a document that
// stays the same. What is not plainly visible is written as an escape. So different texts are drawn
// differently, except for letters that look alike although they are of one script, or in a word of
// their own.
package harmless

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// tab is how a tab is drawn: code is full of them.
const tab = '\u21e5'

// ASCII is set by a program, before it uses this package, if its readers understand only ASCII: a
// terminal of 8 bits obeys some bytes of UTF-8. Then nothing beyond ASCII is shown.
var ASCII bool

// Text returns s as it is shown in one line. Written as \u{202e} are controls, other characters
// that are not plainly visible, letters of another script than the rest of their word, and the
// backslash before a text that looks like such an escape. So are right-to-left letters in a line that
// may be drawn as another one is. A byte that is not UTF-8 is \x{ff}, and a tab is ⇥. An emoji keeps
// its style or skin tone, but no joiner is kept.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	line := text(s, true)
	if isTurned(line) {
		return text(s, false)
	}
	return line
}

// text is Text, in which right-to-left letters may be kept.
func text(s string, rightToLeft bool) string {
	var out strings.Builder
	draw(s, false, func(s string, r rune, shown bool) {
		shown = shown && (rightToLeft || !isRightToLeft(r))
		switch {
		case r == '\t' && !ASCII:
			out.WriteRune(tab)
		case r == utf8.RuneError && len(s) == 1:
			fmt.Fprintf(&out, `\x{%02x}`, s[0])
		case !shown:
			fmt.Fprintf(&out, `\u{%x}`, r)
		default:
			out.WriteString(s)
		}
	})
	return out.String()
}

// Lines returns the lines of s, each as Text draws it.
func Lines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Text(line)
	}
	return lines
}

// JSON returns the same JSON document as text, with what Text would not show written as \u202e.
// Characters below U+0020 are kept: in valid JSON they are only layout. So are bytes that are not
// UTF-8.
func JSON(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0x7f }) < 0 {
		return text
	}
	turned := isTurned(text)

	var out strings.Builder
	draw(text, true, func(s string, r rune, shown bool) {
		shown = shown && !(turned && isRightToLeft(r))
		switch {
		case shown || r < 0x7f || r == utf8.RuneError && len(s) == 1:
			out.WriteString(s)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	})
	return out.String()
}

// Short returns s if it has at most most bytes, and otherwise its beginning and its end, and
// between them how many bytes are left out. most is at least 30.
func Short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const between = len(" … 1234567 more bytes … ")
	half := max(most-between, 0) / 2
	begin, end := strings.ToValidUTF8(s[:half], ""), strings.ToValidUTF8(s[len(s)-half:], "")
	return fmt.Sprintf("%s … %d more bytes … %s", begin, len(s)-len(begin)-len(end), end)
}

// isPlain reports whether s is drawn as it is, without a look at more than its bytes: it is
// printable ASCII, and nothing in it looks like an escape.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\\' && looksEscaped(s[i:]) {
			return false
		}
	}
	return true
}

// looksEscaped reports whether s, which begins with a backslash, looks like an escape of Text.
func looksEscaped(s string) bool {
	return len(s) > 2 && (s[1] == 'u' || s[1] == 'x') && s[2] == '{'
}

// draw calls put for each piece of s, in order: a character r and whether it is shown as it is; or
// an emoji or a plain text, which is, and its first character. In JSON, a backslash and the
// character behind it are no part of a word.
func draw(s string, json bool, put func(s string, r rune, shown bool)) {
	odd := -1 // the next character that is not plain; up to the last space before it, all is
	for i := 0; i < len(s); {
		if i > odd {
			odd = nextOdd(s, i)
			if n := strings.LastIndexByte(s[i:odd], ' ') + 1; n > 0 {
				put(s[i:i+n], rune(s[i]), true)
				i += n
				continue
			}
		}

		rest := s[i:]
		r, n := utf8.DecodeRuneInString(rest)
		switch emoji := emoji(rest); {
		case emoji > 0 && !ASCII:
			n = emoji
			put(rest[:n], r, true)
		case r == '\\' && json:
			_, escaped := utf8.DecodeRuneInString(rest[1:])
			n += escaped
			put(rest[:n], r, true)
		case inWord(r):
			n = wordLen(rest)
			drawWord(rest[:n], put)
		default:
			put(rest[:n], r, isVisible(r) && !(r == utf8.RuneError && n == 1) && r != tab &&
				!(r == '\\' && looksEscaped(rest)))
		}
		i += n
	}
}

// nextOdd returns the place in s, from i on, of the first character that is a backslash or not
// printable ASCII.
func nextOdd(s string, i int) int {
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\\' {
			break
		}
	}
	return i
}

// isVisible reports whether people see r wherever it stands. Marks are not: they need a letter.
func isVisible(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r < 0x7f
	}
	return !ASCII && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !isHidden(r)
}

// isHidden reports whether r is a letter, mark or symbol that is drawn as nothing or as a blank, or as
// a character of ASCII is that has a meaning to shells, or in more columns than Unicode says.
func isHidden(r rune) bool {
	switch r {
	case '\u037e', '\u1fef', '\u212a', // a question mark, an accent and a unit that are ; ` and K
		'\u2010', '\u2011', '\u2212', '\u2024', '\u2027', // hyphens, a minus and dots
		'\u2044', '\u2215', '\u2216', '\u2217', '\u2223', '\u2236', '\u223c', // / \ * | : ~
		'\u29f5', '\u29f8', '\u29f9', // \ and /
		'\ua789', '\u01c0', '\u01c3', // a colon, a bar and an exclamation mark that are letters
		'\u2800',                                 // a pattern of no dots
		'\U0001d159', '\U00013441', '\U00013442', // blanks of music and of hieroglyphs
		'\U00016fe4': // a filler
		return true
	}
	return 0x1d400 <= r && r <= 0x1d7ff || // letters and digits of ASCII in other types
		0x3248 <= r && r <= 0x324f || // numbers that glibc gives two columns
		0x1d165 <= r && r <= 0x1d166 || 0x1d16d <= r && r <= 0x1d172 || // marks that it gives one
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
