package harmless

import (
	"strings"
	"unicode"
)

// isTurned reports whether line may be drawn as another line is, by a terminal that draws letters from
// right to left (annex 9 of Unicode) in lines that begin at the left: it has such letters, and numbers
// or brackets. Lines with other characters are drawn differently if they are different.
func isTurned(line string) bool {
	isOther := func(r rune) bool { return unicode.In(r, unicode.N, unicode.Ps, unicode.Pe) }
	return strings.ContainsFunc(line, isRightToLeft) && strings.ContainsFunc(line, isOther)
}

// isRightToLeft reports whether r is in a block of scripts that are written from right to left.
func isRightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, 0xfb1d <= r && r <= 0xfdff, 0xfe70 <= r && r <= 0xfeff,
		0x10800 <= r && r <= 0x10fff, 0x1e800 <= r && r <= 0x1efff:
		return true
	}
	return false
}
