package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// An Attempt is an attempt at a task that is over, and what is left of it. Only the last one has an
// end. Times and a participant are known of that one, and while the operation of another is
// archived.
type Attempt struct {
	queue.Attempt
	Log, Report             string // paths; "": none
	Participant             string
	StartedAt, EndedAt      time.Time
	OperationEnd, BecauseOf string // how its operation has ended, and why
}

// Settled takes what the queue knows of the last attempt.
func (a *Attempt) Settled(last queue.Attempt) {
	a.Attempt, a.Participant = last, last.By
	if !last.At.IsZero() {
		a.StartedAt, a.EndedAt = last.At.Add(-last.Ran), last.At
	}
}

// Take takes from op, the operation of the attempt, who made it, when and how it ended.
func (a *Attempt) Take(op protocol.Operation) {
	call := ""
	for _, e := range op.Events {
		switch {
		case e.Type == observe.CallStarted && call == "":
			call, a.Participant, a.StartedAt = e.CallID, e.By, e.At
		case e.Type == observe.CallEnded:
			a.EndedAt = e.At
		}
	}
	if len(op.Transitions) > 0 {
		a.OperationEnd = string(op.State)
		a.BecauseOf = explain.Why(op.Transitions[0])
		if cause := op.Transitions[0].Cause; cause != nil && cause.Call == call {
			a.BecauseOf = explain.Happened(*cause)
		}
	}
}

// String says in words how the attempt ended, who made it and when, as far as it is known.
func (a Attempt) String() string {
	text := fmt.Sprintf("epoch %d", a.Epoch)
	if a.Participant != "" {
		text += ", by " + a.Participant
	}
	if !a.EndedAt.IsZero() {
		text += fmt.Sprintf(", from %s for %s", a.StartedAt.UTC().Format(time.RFC3339),
			Span(max(a.EndedAt.Sub(a.StartedAt), 0)))
	}

	switch {
	case a.End != "":
		text += ": " + AttemptEnding(a.Attempt)
	case a.OperationEnd != "":
		text += ": " + a.OperationEnd + ": " + a.BecauseOf
	}
	if a.Judged {
		text += ", as others have found"
	}
	return text
}

// A Task is a task of a queue to show, with the attempts at it, oldest first. One that has ended
// has no place, and one that has not has no end.
type Task struct {
	ID       string
	Place    queue.Place
	Ended    queue.Ended
	Attempts []Attempt
	Queue    *Queue
}

// Live reports whether the task has not ended.
func (t Task) Live() bool { return t.Place.Task != nil }

// State returns the state of the task, or how it has ended.
func (t Task) State() string {
	if t.Live() {
		return string(t.Place.State)
	}
	return string(t.Ended.End)
}

// Why says in sentences why the task is in its state, and what happens next.
func (t Task) Why() (lines []string) {
	if !t.Live() {
		return append(t.end(), t.attempts()...)
	}

	p, now := t.Place, t.Queue.Seen.Now
	lines = append(lines, fmt.Sprintf("Added %s.", since(p.EnqueuedAt, now)))
	switch p.State {
	case queue.Claimed:
		lines = append(lines, t.claim()...)
	case queue.Waiting, queue.Blocked, queue.Dead:
		lines = append(lines, t.standing())
	case queue.Open:
		lines = append(lines, sentence("asked by "+AskedBy(p.Task)+": "+p.Ask.Text),
			t.expiry(), fmt.Sprintf("dpl-answer %s answers it.", t.ID))
	}
	if p.State == queue.Blocked || p.State == queue.Dead {
		lines = append(lines, fmt.Sprintf("dpl-enqueue %s --again %s tries it again.", t.Queue.ID,
			t.ID))
	}
	if p.Expiry().For > 0 && p.Attempts == 0 && p.State == queue.Waiting {
		lines = append(lines, t.expiry())
	}
	return append(lines, t.attempts()...)
}

// since says when something was.
func since(at, now time.Time) string {
	return fmt.Sprintf("%s, %s", at.UTC().Format(time.RFC3339), Ago(now.Sub(at)))
}

// standing says what holds the task, or that nothing does.
func (t Task) standing() string {
	holds := t.Place.Holds
	switch {
	case len(holds) == 0 && t.Place.Ahead == 0:
		return "Ready: it is claimed next."
	case len(holds) == 0:
		return fmt.Sprintf("Ready, %d ahead of it.", t.Place.Ahead)
	}

	var texts []string
	for _, h := range holds {
		texts = append(texts, HoldText(h))
	}
	return sentence("held: " + strings.Join(texts, "; then "))
}

func (t Task) expiry() string {
	left := t.Place.Expiry().Left(t.Queue.Seen.Observation)
	if left == 0 {
		return "It has expired: the next edit of the queue ends it."
	}
	unless := "claimed"
	if t.Place.Ask != nil {
		unless = "answered"
	}
	return fmt.Sprintf("It expires %s, in %s, unless it is %s before.",
		t.Queue.Seen.Now.Add(left).UTC().Format(time.RFC3339), Span(left), unless)
}

// Judged returns the claim of the task, as judged now. It is claimed.
func (t Task) Judged() Claim { return t.Queue.claim(t.Place) }

// claim says who has the task, and what ends that.
func (t Task) claim() (lines []string) {
	c := t.Judged()
	claim := c.Place.Claim
	lines = append(lines, fmt.Sprintf("%s has it since %s, %s: epoch %d, attempt %d.",
		claim.Participant, claim.At.UTC().Format(time.RFC3339), Ago(c.Age), claim.Epoch,
		t.Place.Attempts))
	if evidence := c.Evidence(); len(evidence) > 0 {
		lines = append(lines, sentence(strings.Join(evidence, ", ")))
	}
	if asked := c.Asked(); asked != "" {
		lines = append(lines, sentence(asked))
	}
	if c.End != "" {
		return append(lines, sentence("the attempt is over: the next edit of the queue ends it as "+
			AttemptEnding(queue.Attempt{End: c.End, Reason: c.Judgement.Reason})))
	}
	return append(lines, "It ends when "+strings.Join(c.Until(), ", or ")+".")
}

// sentence returns text, which begins with a letter of ASCII, as a sentence.
func sentence(text string) string {
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// end says how the task has ended.
func (t Task) end() []string {
	e := t.Ended
	text := fmt.Sprintf("Ended %s: %s", since(e.At, t.Queue.Seen.Now), e.End)
	switch {
	case e.Decision != nil:
		text += DecidedBy(e.Decision) + ": " + e.Decision.Text
	case e.Last.Epoch == 0:
		text += ", never claimed"
	case e.End != queue.EndedDone:
		text += fmt.Sprintf("; epoch %d before ended %s", e.Last.Epoch, AttemptEnding(e.Last))
	default:
		text += fmt.Sprintf(", in epoch %d", e.Last.Epoch)
	}
	return []string{sentence(text)}
}

// attempts says how the last attempts ended, the newest first, and where their output is.
func (t Task) attempts() (lines []string) {
	const most = 5
	all := t.Attempts
	for _, a := range slices.Backward(all[max(len(all)-most, 0):]) {
		text := a.String()
		if a.Report != "" {
			text += "; report " + a.Report
		}
		if a.Log != "" {
			text += "; log " + a.Log
		}
		if a.Report == "" && a.Log == "" { // a path has no full stop, to be copied
			text = sentence(text)
		}
		lines = append(lines, strings.ToUpper(text[:1])+text[1:])
	}
	if n := len(all) - most; n > 0 {
		lines = append(lines, fmt.Sprintf("And %s before.", plural(n, "attempt")))
	}
	if t.Live() && t.Place.SameError > 0 {
		lines = append(lines, fmt.Sprintf("It has failed so %d times in a row.",
			t.Place.SameError+1))
	}
	return lines
}
