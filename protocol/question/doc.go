// Package question decides by rules whether a tool may be used, before a person is asked (spec §48,
// in spec/questions.md).
//
// A [Request] is what somebody wants to do: a tool, and the words of a command or one string for a
// shell. [Decode] reads [Rules] from a file, and [Decide] applies those of all files: what one
// denies is denied, whatever others allow.
//
// The two sides are not alike. A rule that allows must match exactly, and each of the commands that
// are joined; one that denies or asks also counts where it only may be meant. What paths lead to,
// and the time, is [Evidence] of the caller. [Explain] says why rules match or not.
package question
