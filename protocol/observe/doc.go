// Package observe has what operations and groups share.
//
// An [Observation] is what a verb learns about the world. From it and from the [Vitals] of a call
// or service follows the [Evidence] that its process is dead, whatever the clocks do: a [Beat] has
// the time on the monotonic clock, a [Grace] bridges a pause of everything, and [Sightings] keep
// the clocks of several hosts apart.
//
// A [Report] is what a participant says with a heartbeat, and a [Verdict] the answer. An [Event]
// tells what has happened, a [Line] tells it to those who watch, and an [Outcome] tells it to those
// who wait (spec/observing.md).
package observe
