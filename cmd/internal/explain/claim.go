package explain

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// ClaimEvidence says what the verdict rests on: what is seen of the processes, and of the call if there
// is no other sign of life.
func ClaimEvidence(c model.Claim) (all []string) {
	claim := c.Place.Claim
	if c.Judgement.Process != queue.NoProcess {
		all = append(all, claimSight(c, "process", claim.PID, claim.Process, c.Judgement.Process))
	}
	if c.Judgement.Keeper != queue.NoProcess && c.Judgement.Process != queue.Exists {
		all = append(all, claimSight(c, "its keeper", claim.Keeper.PID, claim.Keeper,
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

// claimSight says what is seen of process p, which is pid if nothing else is known of it.
func claimSight(c model.Claim, name string, pid int, p observe.Process, s queue.Sight) string {
	text := fmt.Sprintf("%s %d ", name, pid)
	here := c.Queue.Seen.Host
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

// ClaimUntil returns what ends the claim, worded to follow "it ends when ".
func ClaimUntil(c model.Claim) (all []string) {
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

// ClaimAsked says what the attempt was asked or has said about its end, or returns "".
func ClaimAsked(c model.Claim) string {
	switch claim := c.Place.Claim; {
	case claim.Stop == queue.Cancelled:
		return "its attempt is asked to end, and cancelled then: " + claim.StopReason
	case claim.Stop != "":
		return "its attempt is asked to end, and waits again then: " + claim.StopReason
	case claim.Intent != nil:
		return "its attempt has said how it ends: " + AttemptEnd(queue.Attempt{
			End: claim.Intent.End, Reason: claim.Intent.Reason})
	}
	return ""
}
