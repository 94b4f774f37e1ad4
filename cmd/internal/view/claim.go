package view

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Claim is a claimed task, as judged now.
type Claim struct {
	queue.Place
	queue.Judgement
	Age time.Duration // of the claim
	q   *Queue
}

// Claims returns the claimed tasks of q, the claims that were made first at the beginning.
func (q Queue) Claims() (all []Claim) {
	for _, p := range q.Places {
		if p.Claim != nil {
			all = append(all, q.claim(p))
		}
	}
	return all
}

func (q *Queue) claim(p queue.Place) Claim {
	c := p.Claim
	return Claim{Place: p, Judgement: q.Judged(p.Task, q.Seen), q: q,
		Age: max(0, q.Seen.Age(c.At, c.Beat))}
}

// Verdict returns "alive", or how the attempt has ended although the file does not say so yet.
func (c Claim) Verdict() string {
	if c.End != "" {
		return string(c.End)
	}
	return "alive"
}

// Evidence says what the verdict rests on: what is seen of the processes, and of the call if there
// is no other sign of life.
func (c Claim) Evidence() (all []string) {
	claim := c.Place.Claim
	if c.Judgement.Process != queue.NoProcess {
		all = append(all, c.sight("process", claim.PID, claim.Process, c.Judgement.Process))
	}
	if c.Judgement.Keeper != queue.NoProcess && c.Judgement.Process != queue.Exists {
		all = append(all, c.sight("its keeper", claim.Keeper.PID, claim.Keeper,
			c.Judgement.Keeper))
	}
	if word := callWord(c.Judgement.Call); word != "" {
		all = append(all, fmt.Sprintf("call %s of %s %s", claim.Call, claim.Operation, word))
	}

	if left := c.Judgement.Left; left > 0 {
		all = append(all, "its deadline is in "+Span(left))
	} else if claim.Deadline > 0 {
		all = append(all, "its deadline is over")
	}
	return all
}

func callWord(s queue.CallState) string {
	switch s {
	case queue.CallOpen:
		return "is open"
	case queue.CallOver:
		return "is over"
	case queue.CallCrashed:
		return "has crashed"
	}
	return ""
}

// sight says what is seen of process p, which is pid if nothing else is known of it.
func (c Claim) sight(name string, pid int, p observe.Process, s queue.Sight) string {
	text := fmt.Sprintf("%s %d ", name, pid)
	here := c.q.Seen.Host
	switch {
	case s == queue.Exists:
		return text + "exists"
	case s == queue.IsStopped:
		return text + "is stopped"
	case s == queue.HasExited:
		return text + "has exited"
	case s == queue.HasRebooted:
		return text + "was there before the machine was rebooted"
	case p.HostID != "" && p.HostID != here.ID:
		return text + "is on host " + p.HostID
	case p.Known() && p.PIDNamespace != here.PIDNamespace:
		return text + "is in another pid namespace"
	}
	return text + "cannot be told from another one"
}

// Until returns what ends the claim, worded to follow "it ends when ".
func (c Claim) Until() (all []string) {
	claim := c.Place.Claim
	all = append(all, "the attempt is settled")
	switch s := c.Judgement.Process; {
	case s == queue.Exists || s == queue.IsStopped || s == queue.HasExited || s == queue.HasRebooted:
		text := fmt.Sprintf("process %d is gone", claim.PID)
		if claim.Keeper.Known() {
			text = fmt.Sprintf("processes %d and %d are gone", claim.PID, claim.Keeper.PID)
		}
		all = append(all, text)
	case claim.Call != "":
		all = append(all, fmt.Sprintf("call %s of %s is over or has crashed", claim.Call,
			claim.Operation))
	}
	if claim.Deadline > 0 {
		all = append(all, fmt.Sprintf("it is %s old", Span(claim.Deadline)))
	}
	return all
}

// Asked says what the attempt was asked or has said about its end, or returns "".
func (c Claim) Asked() string {
	switch claim := c.Place.Claim; {
	case claim.Stop == queue.Cancelled:
		return "its attempt is asked to end, and cancelled then: " + claim.StopReason
	case claim.Stop != "":
		return "its attempt is asked to end, and waits again then: " + claim.StopReason
	case claim.Intent != nil:
		return "its attempt has said how it ends: " + AttemptEnding(queue.Attempt{
			End: claim.Intent.End, Reason: claim.Intent.Reason})
	}
	return ""
}
