package queue

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Place says where a task stands: what holds it, or, if nothing does, how many others go before
// it.
type Place struct {
	*Task
	Holds []Hold // what is to be said first at the beginning; of a ready task: none
	Ahead int    // of a ready task: how many are claimed before it
}

// Ready reports whether the task can be claimed now.
func (p Place) Ready() bool { return len(p.Holds) == 0 }

// Places returns where each task of q stands, in the order of the tasks: what Holds and Ready say
// of each, without going through the queue once for each.
func (q Queue) Places(seen Seen) []Place {
	seen.Now = wire.Moment(seen.Now)
	l := q.line(seen)

	places := make([]Place, len(q.Tasks))
	var ready []*Place
	for i, t := range q.Tasks {
		p := &places[i]
		p.Task = t
		l.each(t, func(h Hold) bool {
			p.Holds = append(p.Holds, h)
			return true
		})
		if p.Ready() {
			ready = append(ready, p)
		}
	}

	slices.SortFunc(ready, func(a, b *Place) int {
		if l.before(a.Task, b.Task) {
			return -1
		}
		return 1
	})
	for i, p := range ready {
		p.Ahead = i
	}
	return places
}

// A Sight is what is seen of a process of a claim.
type Sight string

const (
	NoProcess   Sight = ""        // none is recorded
	Exists      Sight = "exists"  //
	IsStopped   Sight = "stopped" // by a signal; it exists
	HasExited   Sight = "exited"  //
	HasRebooted Sight = "rebooted"
	CannotTell  Sight = "unknown" // it is not of this host, boot and pid namespace, or is hidden
)

// A Judgement says whether a claim stands, and what is seen of those who have it (spec §35.2).
type Judgement struct {
	End             End    // how its attempt has ended, which the next edit will note; "": it goes on
	Reason          string // of End
	Process, Keeper Sight
	Call            CallState     // CallUnseen if nobody has to look at the call
	Left            time.Duration // until the deadline of the claim; 0: it is over, or there is none
}

// Judged returns how the claim of t is judged now. t is claimed.
func (q Queue) Judged(t *Task, seen Seen) Judgement {
	c := t.Claim
	j := Judgement{
		Process: sight(observe.Vitals{PID: c.PID, Process: c.Process, LastHeartbeat: c.At,
			Beat: c.Beat}, seen),
		Keeper: sight(observe.Vitals{PID: c.Keeper.PID, Process: c.Keeper, LastHeartbeat: c.At,
			Beat: c.Beat}, seen),
		Left: Timer{c.At, c.Beat, c.Deadline}.Left(seen.Observation),
	}
	if c.Call != "" && seen.Call != nil && (j.Process == CannotTell || j.Process == NoProcess) {
		j.Call = seen.Call(c.Operation, c.Call)
	}
	j.End, j.Reason = q.judge(c, seen)
	return j
}

// sight returns what is seen of the process of v, which sends no heartbeats.
func sight(v observe.Vitals, seen Seen) Sight {
	gone := seen.Gone(v)
	switch {
	case v.PID == 0:
		return NoProcess
	case gone == observe.Rebooted:
		return HasRebooted
	case gone != "":
		return HasExited
	case seen.CountsHeartbeats(v):
		return CannotTell
	case seen.Stopped(v):
		return IsStopped
	}
	return Exists
}
