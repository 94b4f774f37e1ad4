package harmless

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const emojiStyle, keycap = '\ufe0f', '\u20e3'

// emoji returns the length of the emoji with which s begins, with its style or skin tone. It returns
// 0 if there is none. What is joined to it is another one: the joiner is not seen, and a terminal may
// count its columns wrongly.
func emoji(s string) int {
	if len(s) == 0 || s[0] < utf8.RuneSelf && !isKeycap(s) {
		return 0
	}
	if isKeycap(s) {
		return 1 + len(string(emojiStyle)) + len(string(keycap))
	}
	r, n := utf8.DecodeRuneInString(s)
	if !isEmoji(r) {
		return 0
	}
	if next, size := utf8.DecodeRuneInString(s[n:]); next == emojiStyle || 0x1f3fb <= next && next <= 0x1f3ff {
		n += size // a skin tone
	}
	return n
}

// isKeycap reports whether s begins with a digit, # or * on a key.
func isKeycap(s string) bool {
	return len(s) > 1 && strings.IndexByte("0123456789#*", s[0]) >= 0 &&
		strings.HasPrefix(s[1:], string(emojiStyle)+string(keycap))
}

// isEmoji reports whether r may be drawn as an emoji.
func isEmoji(r rune) bool {
	switch {
	case 0x2600 <= r && r <= 0x27bf, 0x1f000 <= r && r <= 0x1faff:
		return unicode.Is(unicode.So, r)
	case r < 0x2100, 0x3300 <= r:
		return r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049
	case 0x2194 <= r && r <= 0x2199, 0x23e9 <= r && r <= 0x23f3, 0x23f8 <= r && r <= 0x23fa,
		0x25fb <= r && r <= 0x25fe, 0x2b05 <= r && r <= 0x2b07:
		return true
	}
	switch r {
	case 0x2122, 0x2139, 0x21a9, 0x21aa, 0x231a, 0x231b, 0x2328, 0x23cf, 0x24c2, 0x25aa, 0x25ab,
		0x25b6, 0x25c0, 0x2934, 0x2935, 0x2b1b, 0x2b1c, 0x2b50, 0x2b55, 0x3030, 0x303d, 0x3297, 0x3299:
		return true
	}
	return false
}
