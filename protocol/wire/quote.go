package wire

import (
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendQuote appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	if plain(s, 0) < len(s) {
		dst, _ = jsontext.AppendQuote(dst, s)
		return dst
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// plain returns the index, from start on, of the first byte of text that a string of ASCII cannot
// contain unescaped.
func plain(text string, start int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := start
	for ; i+8 <= len(text); i += 8 {
		t := text[i : i+8]
		w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		quote, escape := w^ones*'"', w^ones*'\\'
		special := (w-ones*' ')&^w | (quote-ones)&^quote | (escape-ones)&^escape | w
		if special &= tops; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}

	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}

	return i
}
