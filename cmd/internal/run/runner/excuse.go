package runner

import "github.com/dpl-project/dpl/protocol/observe"

// An Excuse is why a command may be silent.
type Excuse struct {
	Idle    int64 // the revision of the file in which it is idle; 0: it is not
	Asking  bool  // a question of its operation is open
	Unknown bool  // the file cannot be read
}

// Given reports whether there is an excuse.
func (e Excuse) Given() bool { return e != Excuse{} }

// IdleIsOver reports whether there was output since the last of the events that are ours, which
// says that the command is idle. It was found idle for the last time in the file of that revision.
func IdleIsOver(events []observe.Event, ours func(observe.Event) bool, found int64) bool {
	said := int64(0) // too old to be among the events
	for _, e := range events {
		if ours(e) {
			said = e.Revision
		}
	}
	return found != 0 && said <= found
}
