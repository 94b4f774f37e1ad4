//go:build !linux

package job

import (
	"errors"
	"time"
)

// Keeper would end the job when this process dies. There are no keepers here.
type Keeper struct{ err error }

var errNoKeeper = errors.New("there are no keepers on this system")

// Keep does nothing: if the runner of a job dies, the job continues.
func Keep(func(note []byte, held []int)) {}

// NewKeeper returns a Keeper that does nothing.
func NewKeeper(string, time.Duration, ...int) *Keeper { return &Keeper{errNoKeeper} }

// Tell does nothing.
func (*Keeper) Tell([]byte) {}

// Let does nothing.
func (*Keeper) Let() {}

// PID returns 0.
func (*Keeper) PID() int { return 0 }

// Dismiss does nothing.
func (*Keeper) Dismiss() {}

// Adopt does nothing: on this system only the first process gets orphans.
func Adopt() {}

// Strays returns none on this system.
func (j *Job) Strays() []int { return nil }

// StrayEnd returns false: no strays are known.
func (j *Job) StrayEnd() (how End, ok bool) { return End{}, false }

func (*Keeper) leave() {}
