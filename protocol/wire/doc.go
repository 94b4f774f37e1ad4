// Package wire reads and writes the JSON text of files (spec §1.3), strictly: no object has
// duplicate members, all text is UTF-8, and nothing is nested deeper than [MaxDepth]. It does not
// know the rules of the protocol.
package wire
