// Package wire reads and writes the JSON text of files (spec §1.3), strictly: no member occurs twice
// in an object, all text is UTF-8, and nothing is nested deeper than MaxDepth. It knows none of the
// rules of the protocol.
package wire
