package harmless

import (
	"unicode"
	"unicode/utf8"
)

// inWord reports whether a word may begin with r.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return !ASCII && unicode.In(r, unicode.L, unicode.Nd) && !isHidden(r)
}

// wordLen returns the length of the word with which s begins: letters, digits and underscores, and the
// marks on letters.
func wordLen(s string) (n int) {
	const mostMarks = 4 // on one letter: more are drawn over other lines
	marks := -1         // on the last letter; -1: there is none
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case n > 0 && emoji(s[n:]) > 0:
			return n
		case inWord(r):
			if marks = 0; !unicode.IsLetter(r) {
				marks = -1
			}
		case isMark(r) && 0 <= marks && marks < mostMarks:
			marks++
		default:
			return n
		}
		n += size
	}
	return n
}

// isMark reports whether r is drawn on the letter before it. Those that strike it out or surround it
// are not: with them, it is not read.
func isMark(r rune) bool {
	switch {
	case r < 0x300, 0x334 <= r && r <= 0x338, 0x20d0 <= r && r <= 0x20ff:
		return false
	}
	return !ASCII && unicode.In(r, unicode.Mn, unicode.Mc) && !isHidden(r)
}

// drawWord calls put for the characters of a word. Those of another script than most of it are not
// shown: they may look like others.
func drawWord(word string, put func(s string, r rune, shown bool)) {
	var counts [scriptCount]int
	mixed := 0
	for _, r := range word {
		if s := scriptOf(r); s != common {
			if counts[s]++; counts[s] == 1 {
				mixed++
			}
		}
	}
	most := western
	for s, n := range counts {
		if n > counts[most] {
			most = script(s)
		}
	}

	shown := true
	for i, r := range word {
		hangs := unicode.Is(unicode.M, r) // on what is before it
		if s := scriptOf(r); mixed > 1 && (shown || !hangs) {
			shown = s == common || s == most
		}
		put(word[i:i+utf8.RuneLen(r)], r, shown)
	}
}

// A script is a set of scripts whose letters stand in one word and look like no letters of each
// other.
type script int

const (
	common   script = iota // digits, marks, and what else belongs to every script
	western                // Latin, and scripts of East Asia, which have no spaces between words
	cyrillic               // has letters that look like Latin ones, and so have the others
	greek
	other
	scriptCount
)

func scriptOf(r rune) script {
	switch {
	case r < utf8.RuneSelf:
		if unicode.IsLetter(r) {
			return western
		}
		return common
	case isUnit(r):
		return common
	case unicode.In(r, unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		return western
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.In(r, unicode.Common, unicode.Inherited):
		return common
	}
	return other
}

// isUnit reports whether r is a Greek letter that looks like no Latin one, and stands before or
// behind Latin ones in units and formulas.
func isUnit(r rune) bool {
	switch r {
	case 'μ', 'Ω', '\u2126', 'Δ', 'Σ', 'Φ', 'Θ', 'Λ', 'Π', 'Ψ', 'π', 'λ', 'θ', 'φ', 'ψ':
		return true
	}
	return false
}
