package explain

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Trouble is something that needs a person, or soon will.
type Trouble struct {
	Rank  Rank
	Mood  string // bad, or warn
	What  string
	Quote []string // lines of a text written by others
	Cures []Cure   // what ends it, the most likely first
	More  []Cure   // what says more of it
}

// Commands returns what ends t, and what says more of it.
func (t Trouble) Commands() []Cure { return slices.Concat(t.Cures, t.More) }

// A Cure is a command that ends a trouble, or says more of it.
type Cure struct{ Command, Does string }

// A Rank orders troubles: what has ended by itself comes before what somebody has stopped.
type Rank int

const (
	ByFile    Rank = iota // a file cannot be read, or has been changed
	ByDeath               // something has crashed, failed or died
	ByHalt                // somebody has halted it
	ByBlock               // it waits for something else
	ByAsking              // a person is asked
	ByWaiting             // it may yet go on by itself
)

// isID reports whether a command takes name as an id: others may have written it.
func isID(name string) bool { return wire.CheckID(name) == nil }

// Cures returns what each of cures does, in sentences.
func Cures(cures []Cure) (all []string) {
	for _, c := range cures {
		all = append(all, c.Command+" "+c.Does+".")
	}
	return all
}
