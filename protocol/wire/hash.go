package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// HashPrefix is what a hash begins with. 64 hexadecimal digits in lower case follow.
const HashPrefix = "sha256:"

// Hash returns the hash of text.
func Hash(text string) string {
	h := sha256.New()
	var part [512]byte // not a copy of all, which may be long
	for len(text) > 0 {
		n := copy(part[:], text)
		h.Write(part[:n])
		text = text[n:]
	}
	hash := append(make([]byte, 0, len(HashPrefix)+2*sha256.Size), HashPrefix...)
	return string(hex.AppendEncode(hash, h.Sum(nil)))
}

// IsHash reports whether text has the form of a hash.
func IsHash(text string) bool {
	if len(text) != len(HashPrefix)+2*sha256.Size || text[:len(HashPrefix)] != HashPrefix {
		return false
	}
	for _, c := range []byte(text[len(HashPrefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Hash reads a hash.
func (r *Reader) Hash() string {
	text := r.String()
	if !IsHash(text) {
		r.Refuse("want sha256: and 64 hexadecimal digits, not %.80q", text)
	}
	return text
}
