package check

import (
	"regexp"
	"time"
)

// Rules are what must be true of an attempt (spec §41). A member that is nil asks nothing.
type Rules struct {
	Exit     []int64   // the exit statuses that are good; nil is 0, which alone makes no check
	Files    []Pattern // files that exist
	Changed  []Pattern // at least one file of each has changed since the start
	Contains []Text
	Absent   []Text
	JSON     []Shape
	Command  []string      // decides by its exit status
	Timeout  time.Duration // of Command; never 0
	Prose    []string      // what only a person can judge
	Strict   bool          // what cannot be told breaks a rule
}

// A Text is a rule about the text of files: that it contains what matches, or that it does not.
type Text struct {
	Files Pattern
	Match []Match
}

// A Match is a regular expression, in which ^ and $ are the ends of lines.
type Match struct {
	Source string // as it was written
	expr   *regexp.Regexp
}

// A Shape is a rule about files that are JSON. Schema is a JSON Schema; where the rules have names
// and types, it is the schema that they mean.
type Shape struct {
	Files  Pattern
	Schema string
}

// The limits of what is looked at. What is beyond them is uncertain.
const (
	MaxText    = 512 << 10 // bytes of a file
	MaxNames   = 100_000   // names in directories, for one pattern
	MaxMatches = 1000      // files of one pattern
)

// DefaultTimeout is the time limit of a command.
const DefaultTimeout = 10 * time.Minute
