// Package harmless keeps a terminal from obeying text written by others: control characters,
// including those above U+0080, and those that change the direction of text; and it shows those
// that nobody sees.
package harmless

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unsafe reports whether a terminal would obey r, show the text after it in another order or on
// another line, or show nothing. Joiners, which many scripts and emoji need, are no such
// characters.
func unsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner ||
		unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Text returns s with unsafe characters, and bytes that are not UTF-8, replaced by U+FFFD.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unsafe(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// Message returns s with unsafe characters, and bytes that are not UTF-8, written as in a Go
// string: \x1b or \u202e.
func Message(s string) string {
	return replaced(s, func(r rune, size int, char string) string {
		switch {
		case r == utf8.RuneError && size == 1, unsafe(r) && r < utf8.RuneSelf:
			return fmt.Sprintf(`\x%02x`, char[0])
		case unsafe(r):
			return fmt.Sprintf(`\u%04x`, r)
		}
		return char
	})
}

// JSON returns the same JSON document as text, with unsafe characters in its strings written as
// \u202e. Control characters below U+0020 are left, because in valid JSON they are only layout.
func JSON(text string) string {
	return replaced(text, func(r rune, _ int, char string) string {
		if r < ' ' || !unsafe(r) {
			return char
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// replaced returns s with each character r replaced by by(r). A byte that is not UTF-8 is passed as
// utf8.RuneError of size 1. Printable ASCII characters are kept.
func replaced(s string, by func(r rune, size int, char string) string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x7f || r < ' ' }) < 0 {
		return s
	}

	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		out.WriteString(by(r, size, s[:size]))
		s = s[size:]
	}

	return out.String()
}

// Short returns s if it has at most most bytes, and otherwise its beginning and its end.
func Short(s string, most int) string {
	const between = " ... "
	if len(s) <= most {
		return s
	}
	half := (most - len(between)) / 2
	return strings.ToValidUTF8(s[:half], "") + between + strings.ToValidUTF8(s[len(s)-half:], "")
}
