package pager

import (
	"strings"
	"unicode/utf8"
)

// A Key is a character, or one of the keys below.
type Key rune

const (
	Up Key = -1 - iota
	Down
	PageUp
	PageDown
	Home
	End
	Enter
	Escape
	Backspace
	other // one that means nothing here
)

// sequences are what terminals send for keys that are no characters, after ESC.
var sequences = [...]struct {
	text string
	key  Key
}{
	{"[A", Up}, {"[B", Down}, {"OA", Up}, {"OB", Down}, {"[5~", PageUp}, {"[6~", PageDown},
	{"[H", Home}, {"[F", End}, {"OH", Home}, {"OF", End}, {"[1~", Home}, {"[4~", End},
	{"[7~", Home}, {"[8~", End},
}

// Keys returns the keys that a terminal has sent as text, and the beginning of one that is
// incomplete. A single ESC at the end is the key of that name.
func Keys(text string) (keys []Key, rest string) {
	for text != "" {
		key, size := first(text)
		if size == 0 {
			return keys, text
		}
		keys, text = append(keys, key), text[size:]
	}
	return keys, ""
}

// first returns the first key of text, and its length, or 0 if it is incomplete.
func first(text string) (Key, int) {
	switch text[0] {
	case '\x1b':
		return escaped(text)
	case '\r', '\n':
		return Enter, 1
	case 0x7f, '\b':
		return Backspace, 1
	}
	if !utf8.FullRuneInString(text) {
		return other, 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError {
		return other, size
	}
	return Key(r), size
}

// escaped returns the key of a text that begins with ESC.
func escaped(text string) (Key, int) {
	after := text[1:]
	if after == "" || after[0] != '[' && after[0] != 'O' {
		return Escape, 1
	}
	for _, s := range sequences {
		if strings.HasPrefix(after, s.text) {
			return s.key, 1 + len(s.text)
		}
	}

	// Another sequence ends with a letter or a tilde.
	const longest = 16
	for i := 1; i < len(after); i++ {
		if c := after[i]; c >= '@' && c <= '~' {
			return other, i + 2
		}
	}
	if len(after) > longest {
		return other, len(text)
	}
	return other, 0
}
