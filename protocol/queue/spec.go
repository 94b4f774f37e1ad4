package queue

import (
	"crypto/sha256"
	"encoding/hex"
)

// Content is the content of a spec file (spec §36.1).
type Content string

// Hash returns the hash by which a task names c: "sha256:" and 64 hexadecimal digits.
func (c Content) Hash() string {
	sum := sha256.Sum256([]byte(c))
	return "sha256:" + hex.EncodeToString(sum[:])
}
