// Package check is the core of checks: whether an attempt has done what was asked for (spec §41 to
// §43, in spec/checks.md).
//
// # Rules and verdicts
//
// [Rules] say what must be true of an attempt. [Rules.Judge] looks at an [Attempt], rule by rule,
// and returns a [Report]. An attempt is [Uncertain] if something cannot be told, and [Unchecked] if
// nothing was looked at: neither has passed.
//
// # Facts and doubts
//
// An Attempt looks at files and runs the command; this package does not. It returns a [Fact] for
// what it has seen and what breaks a rule. Any other error is a doubt.
package check
