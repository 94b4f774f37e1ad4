package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Task says in sentences why the task is in its state, and what happens next.
func Task(t model.Task) (lines []string) {
	if !t.Live() {
		return append(taskEnd(t), taskAttempts(t)...)
	}

	p, now := t.Place, t.Queue.Seen.Now
	lines = append(lines, fmt.Sprintf("Added %s.", since(p.EnqueuedAt, now)))
	switch p.State {
	case queue.Claimed:
		lines = append(lines, taskClaim(t)...)
	case queue.Waiting, queue.Blocked, queue.Dead:
		lines = append(lines, taskStanding(t))
	case queue.Open:
		lines = append(lines, sentence("asked by "+AskedBy(p.Task)+": "+p.Ask.Text),
			taskExpiry(t), fmt.Sprintf("dpl-answer %s answers it.", t.ID))
	}
	if p.State == queue.Blocked || p.State == queue.Dead {
		lines = append(lines, fmt.Sprintf("dpl-enqueue %s --again %s tries it again.", t.Queue.ID,
			t.ID))
	}
	if p.Expiry().For > 0 && p.Attempts == 0 && p.State == queue.Waiting {
		lines = append(lines, taskExpiry(t))
	}
	return append(lines, taskAttempts(t)...)
}

// since says when something was.
func since(at, now time.Time) string {
	return fmt.Sprintf("%s, %s", at.UTC().Format(time.RFC3339), Ago(now.Sub(at)))
}

// taskStanding says what holds the task, or that nothing does.
func taskStanding(t model.Task) string {
	holds := t.Place.Holds
	switch {
	case len(holds) == 0 && t.Place.Ahead == 0:
		return "Ready: it is claimed next."
	case len(holds) == 0:
		return fmt.Sprintf("Ready, %d ahead of it.", t.Place.Ahead)
	}

	var texts []string
	for _, h := range holds {
		texts = append(texts, Hold(h))
	}
	return sentence("held: " + strings.Join(texts, "; then "))
}

func taskExpiry(t model.Task) string {
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

// taskClaim says who has the task, and what ends that.
func taskClaim(t model.Task) (lines []string) {
	c := t.Judged()
	claim := c.Place.Claim
	lines = append(lines, fmt.Sprintf("%s has it since %s, %s: epoch %d, attempt %d.",
		claim.Participant, claim.At.UTC().Format(time.RFC3339), Ago(c.Age), claim.Epoch,
		t.Place.Attempts))
	if evidence := ClaimEvidence(c); len(evidence) > 0 {
		lines = append(lines, sentence(strings.Join(evidence, ", ")))
	}
	if asked := ClaimAsked(c); asked != "" {
		lines = append(lines, sentence(asked))
	}
	if c.End != "" {
		return append(lines, sentence("the attempt is over: the next edit of the queue ends it as "+
			AttemptEnd(queue.Attempt{End: c.End, Reason: c.Judgement.Reason})))
	}
	return append(lines, "It ends when "+strings.Join(ClaimUntil(c), ", or ")+".")
}

// sentence returns text, which begins with a letter of ASCII, as a sentence.
func sentence(text string) string {
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// taskEnd says how the task has ended.
func taskEnd(t model.Task) []string {
	e := t.Ended
	text := fmt.Sprintf("Ended %s: %s", since(e.At, t.Queue.Seen.Now), e.End)
	switch {
	case e.Decision != nil:
		text += DecidedBy(e.Decision) + ": " + e.Decision.Text
	case e.Last.Epoch == 0:
		text += ", never claimed"
	case e.End != queue.EndedDone:
		text += fmt.Sprintf("; epoch %d before ended %s", e.Last.Epoch, AttemptEnd(e.Last))
	default:
		text += fmt.Sprintf(", in epoch %d", e.Last.Epoch)
	}
	return []string{sentence(text)}
}

// taskAttempts says how the last attempts ended, the newest first, and where their output is.
func taskAttempts(t model.Task) (lines []string) {
	const most = 5
	all := t.Attempts
	for _, a := range slices.Backward(all[max(len(all)-most, 0):]) {
		text := AttemptText(a)
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
		lines = append(lines, fmt.Sprintf("And %s before.", Plural(n, "attempt")))
	}
	if t.Live() && t.Place.SameError > 0 {
		lines = append(lines, fmt.Sprintf("It has failed so %d times in a row.",
			t.Place.SameError+1))
	}
	return lines
}

// AttemptText says in words how the attempt ended, who made it and when, as far as it is known.
func AttemptText(a model.Attempt) string {
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
		text += ": " + AttemptEnd(a.Attempt)
	case a.OperationEnd != "": // which fails also if the task was given back
		text += ": its operation " + string(a.OperationEnd) + ": " + Because(a)
	}
	if a.Judged {
		text += ", as others have found"
	}
	return text
}

// AttemptEnd returns how an attempt ended, in words: "failed: exit status 3".
func AttemptEnd(a queue.Attempt) string {
	text := string(a.End)
	if a.Reason != "" && a.Reason != string(a.End) {
		text += ": " + a.Reason
	}
	return text
}

// Hold says why a task does not run, with times relative and absolute.
func Hold(h queue.Hold) string {
	text := h.String()
	switch {
	case h.Kind == queue.HeldByTime || h.Kind == queue.HeldByDelay:
		text += ", in " + Span(h.Left)
	case h.Kind == queue.HeldByPerson && h.Task != "":
		text += ", on question " + h.Task
	}
	return text
}

// Because returns why the operation of an attempt ended as it did.
func Because(a model.Attempt) string {
	if cause := a.Because.Cause; cause != nil && cause.Call == a.Call {
		return Happened(*cause)
	}
	return Why(a.Because)
}
