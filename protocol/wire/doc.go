// Package wire reads and writes the values in files (spec §1): ids, times, and JSON text. It is
// strict: no object has duplicate members, all text is UTF-8, and nothing is nested deeper than
// [MaxDepth]. What it does not know it keeps ([Member], [Nested]). It does not know the rules of
// the protocol.
package wire
