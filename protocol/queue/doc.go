// Package queue is the core of queues: work that waits, who has it, and how it ended (spec §32 to
// §39, in spec/queues.md).
//
// # Queue and tasks
//
// A [Queue] is the content of one file: its policy, its halts, its tasks in the order in which they
// came, and the newest of those that have ended. It is a value: a verb returns a changed copy, and
// with an error what it was given.
//
// # Verbs
//
// [Queue.Enqueue] adds tasks, [Queue.Claim] takes one, [Queue.Settle] says how its attempt ended,
// [Queue.Control] halts, resumes and sets the policy. Each of them begins with [Queue.Pass], which
// returns the tasks of claimers that died.
//
// # Why does it not run?
//
// [Queue.Hold] is the one place that says what holds a task. Claims, waits and people ask it.
package queue
