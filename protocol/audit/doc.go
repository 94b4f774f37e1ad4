// Package audit is the record of who changed what: a chain of lines for each object, of which each
// names the hash of the one before it (spec §51 to §57, in spec/audit.md).
//
// # Chain and lines
//
// A [Chain] is the member audit of an object's file. It has the number and the hash of the last
// line, and the lines that may not be in the log yet. So a line is committed with the edit that it
// is about. [Chain.Append] makes the next one from an [Entry].
//
// # Patches
//
// [Diff] says what differs between two values, in [Change]s, and a [State] replays them: so a log
// says how the object was at any revision.
//
// # Verifying
//
// A [Verifier] reads the lines of a chain and says which of them are changed, missing, forked or
// torn.
package audit
