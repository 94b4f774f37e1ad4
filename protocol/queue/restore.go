package queue

import (
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Found is what other files show about a queue whose file may have been set back to an older state,
// or removed (spec §35.7).
type Found struct {
	LastSeq, LastEpoch, Revision int64 // the highest ones in later lines of the record

	Recorded bool              // there are later lines
	Settled  map[Claimable]End // the ends of claims according to them
	Named    int64             // the highest epoch in the names of files of attempts
	Lost     bool              // the record does not have the last line of the file

	last map[string]Attempt // of each task, so far
}

// A Claimable is a claim, by its task and epoch.
type Claimable struct {
	Task  string
	Epoch int64
}

// SetBack reports whether the file of q is older than what f was found in.
func (q Queue) SetBack(f Found) bool {
	return f.Recorded || f.Lost || f.Named > q.LastEpoch
}

// Line adds what a line of the record says that is later than the file of q. Lines come in order.
func (f *Found) Line(q Queue, l audit.Line) {
	if f.last == nil {
		f.last, f.Settled = make(map[string]Attempt), make(map[Claimable]End)
		for _, t := range q.Tasks {
			f.last[t.ID] = t.Last
		}
	}

	f.Recorded = true
	f.Revision = max(f.Revision, l.Revision)
	for _, c := range l.Patch {
		f.change(c)
	}
	for id, last := range f.last {
		f.Settled[Claimable{id, last.Epoch}] = last.End
	}
}

func (f *Found) change(c audit.Change) {
	in, rest, _ := strings.Cut(c.Path, "/")
	task, member, _ := strings.Cut(rest, "/") // neither has an escaped character
	switch {
	case c.Path == "":
		f.whole(c.After)
	case c.Path == "lastSeq":
		f.LastSeq = max(f.LastSeq, parsed(c.After))
	case c.Path == "lastEpoch":
		f.LastEpoch = max(f.LastEpoch, parsed(c.After))
	case c.Path == "ended/-":
		if e, err := DecodeRemembered(c.After); err == nil {
			f.last[e.ID] = e.Last
		}
	case in == "tasks" && member == "lastEpoch":
		f.last[task] = Attempt{Epoch: parsed(c.After), End: f.last[task].End}
	case in == "tasks" && member == "lastEnd":
		f.last[task] = Attempt{Epoch: f.last[task].Epoch, End: End(unquoted(c.After))}
	}
}

// whole adds what a whole object says.
func (f *Found) whole(text string) {
	q, err := Decode(text)
	if err != nil {
		return
	}
	f.LastSeq, f.LastEpoch = max(f.LastSeq, q.LastSeq), max(f.LastEpoch, q.LastEpoch)
	for _, t := range q.Tasks {
		f.last[t.ID] = t.Last
	}
	for _, e := range q.Ended {
		f.last[e.ID] = e.Last
	}
}

func parsed(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // else it is no number of ours
	return n
}

// reasonRestored is the reason of the end of a claim that a file has only because it was set back.
const reasonRestored = "restored"

// Restore returns q, of which the file was set back, with numbers that are not given again, and
// without claims that have ended since (spec §35.7).
func (q Queue) Restore(f Found, seen observe.Observation) (Queue, error) {
	e := q.beginAnyway("restore", Seen{Observation: seen})
	e.q = e.q.Numbered(f)
	e.changed = true
	e.each(func(i int, t *Task) {
		if t.State != Claimed {
			return
		}
		c := t.Claim
		end, settled := f.Settled[Claimable{t.ID, c.Epoch}]
		switch {
		case settled:
			t := e.own(i) // as it was settled, without what was asked of it
			claim := *c
			claim.Stop, claim.Intent, t.Claim = "", nil, &claim
			e.settle(i, Outcome{End: end, Reason: reasonRestored}, false)
		case !f.Recorded && (f.Named > q.LastEpoch || !holdsOn(c, e.seen)):
			e.settle(i, Outcome{End: Released, Reason: reasonRestored}, true)
		}
	})
	return e.end()
}

// Numbered returns q with the highest numbers of q and f, above which the next ones are.
func (q Queue) Numbered(f Found) Queue {
	q.LastSeq = max(q.LastSeq, f.LastSeq)
	q.LastEpoch = max(q.LastEpoch, f.LastEpoch, f.Named)
	q.Revision = max(q.Revision, f.Revision)
	return q
}

// holdsOn reports whether the claimer of c can be checked here, and is alive.
func holdsOn(c *Claim, seen Seen) bool {
	runner := observe.Vitals{PID: c.PID, Process: c.Process, LastHeartbeat: c.At, Beat: c.Beat}
	return seen.CanCheck(runner.Identity()) && seen.Gone(runner) == ""
}
