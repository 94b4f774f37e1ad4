package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// CallDetails returns facts about c, worded to follow "call CALL of PARTICIPANT ".
func CallDetails(c model.Call) (all []string) {
	now := c.Op.Seen.Now
	if said := c.Said().String(); said != "" {
		all = append(all, "says: "+said)
	}
	if c.Description != "" {
		all = append(all, "is described as: "+c.Description)
	}
	if window := Window(c.Judgement); window != "" {
		all = append(all, "is "+window)
	}
	if slices.Contains(c.Op.Lingering(now), c.Frame) {
		all = append(all, "was asked to clean up and has not popped")
	}

	if crash := c.Crash; crash != nil {
		all = append(all, fmt.Sprintf("crashed %s: %s, found by %s; it was %s",
			Ago(now.Sub(crash.At)), Evidence(crash.Evidence), c.Op.Editor(crash.DetectedBy),
			crash.PreviousState))
		if c.State == protocol.FrameCrashed && c.SupervisorID != "" {
			all = append(all, callWaits(c))
		}
		for _, l := range crash.LeftResources {
			all = append(all, fmt.Sprintf("has left %s: %s", l.Path, l.Error))
		}
	}

	if !c.FailOnCrash {
		all = append(all, "may crash without stopping the others")
	}

	return all
}

// callWaits returns what the crashed call c waits for.
func callWaits(c model.Call) string {
	v, known := c.Op.Supervisor(c.SupervisorID)
	now, text := c.Op.Seen.Now, "waits for supervisor "+c.SupervisorID
	switch handler := c.Crash.HandlingBy; {
	case !known || v.Status == protocol.Dead:
		return "waits for the next pass: its supervisor " + c.SupervisorID + " is dead"
	case handler != nil:
		return fmt.Sprintf("%s, whose handler %d started %s", text, handler.PID,
			Ago(now.Sub(handler.At)))
	case !c.Crash.ReportedAt.IsZero():
		return text + ", notified " + Ago(now.Sub(c.Crash.ReportedAt))
	}

	return text + ", not notified yet"
}

// SupervisorDetails returns facts about v and its calls, worded to follow "supervisor ID ".
func SupervisorDetails(v model.Supervisor) (all []string) {
	if window := Window(v.Judgement); window != "" {
		all = append(all, "is "+window)
	}

	for _, f := range v.Op.Stack {
		if f.SupervisorID != v.ID {
			continue
		}

		text := "supervises " + f.CallID
		if f.SupervisorHandle != "" {
			text += ` as "` + f.SupervisorHandle + `"`
		}

		switch {
		case f.State == protocol.FrameCrashed && v.Status == protocol.Alive:
			text += ", which has crashed and waits for it"
		case !f.State.Live():
			text += ", which has crashed"
		}

		all = append(all, text)
	}

	return all
}

// Window describes the grace, or returns "" if there is none.
func Window(j model.Judgement) string {
	if j.GraceUntil.IsZero() {
		return ""
	}
	const why = "because everyone was silent and the observer had not looked"
	return fmt.Sprintf("silent for %s; a fresh window until %s, %s", Span(max(j.Age, 0)),
		j.GraceUntil.UTC().Format(time.RFC3339), why)
}

// InStateFor returns how long op has been in its state, or "" if that is unknown.
func InStateFor(op model.Operation) string {
	since := op.Since()
	if since.IsZero() {
		return ""
	}
	return Span(max(op.Seen.Now.Sub(since), 0))
}

// Failure returns why op failed or was aborted, or "".
func Failure(op model.Operation) string {
	t, left := op.LeftRunning()
	switch {
	case !left:
		return ""
	case t.To == protocol.Aborted:
		return cmp.Or(Why(t), "aborted by "+t.By)
	}
	return Why(t)
}

// Call returns why a call is judged as it is, in sentences: who made it, what is seen of it, and what
// it waits for.
func Call(c model.Call) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)+".") }
	made := "It was made " + At(c.StartTime, c.Op.Seen) + ", by " + c.ParticipantID
	if c.CallerID != "" {
		made += ", below " + c.CallerID
	}
	say("%s", made)

	if c.State.Live() {
		if by := JudgedBy(c); c.Op.Seen.CountsHeartbeats(c.Vitals) {
			say("It is judged by %s", by)
			say("Its last heartbeat is %s old; after %s it counts as stale", Span(c.Age),
				Span(c.Op.StalenessThreshold))
		} else {
			say("It is judged by %s, %d", by, c.PID)
		}
		switch {
		case c.Verdict == "stopped":
			say("A signal has stopped its process: kill -CONT %d lets it continue", c.PID)
		case c.Dead():
			say("There is evidence that it is dead: %s", Evidence(observe.Evidence(c.Verdict)))
		default:
			say("It is alive")
		}
	}
	for _, d := range CallDetails(c) {
		say("It %s", d)
	}
	return all
}

// JudgedBy says whether the process of c or its heartbeats tell that it is alive, and why.
func JudgedBy(c model.Call) string {
	seen, p := c.Op.Seen, c.Identity()
	switch {
	case !seen.CountsHeartbeats(c.Vitals), seen.Gone(c.Vitals) != "":
		return "its process"
	case c.Heartbeats:
		return "its heartbeats, which it promised"
	case !p.Known():
		return "its heartbeats: no process is known"
	case p.HostID != seen.Host.ID:
		return "its heartbeats: its process is on another host, or in a container"
	case p.BootID == seen.Host.BootID && p.PIDNamespace != seen.Host.PIDNamespace:
		return "its heartbeats: its process is in another pid namespace"
	}
	return "its heartbeats: its process cannot be seen"
}

// CallEnd returns how the command of a call that has ended did, and why it was stopped, as far as e
// tells.
func CallEnd(e observe.Event) string {
	end, why := e.Exit.String(), e.Reason
	if end == "" || why == "" || end == why {
		return cmp.Or(end, why)
	}
	return end + ", " + why
}

// Event returns what has happened to a call of op.
func Event(op model.Operation, e observe.Event) string {
	by := op.Editor(e.By)
	switch e.Type {
	case observe.CallStarted:
		if e.CallerID != "" {
			return fmt.Sprintf("started by %s, called by %s", by, e.CallerID)
		}
		return "started by " + by
	case observe.CallReadiness:
		return cmp.Or(e.From, "-") + " -> " + e.To
	case observe.CallEnded:
		told := "popped by " + by
		if e.From != string(protocol.FrameActive) {
			told = fmt.Sprintf("removed by %s: it was %s", by, e.From)
		}
		if how := CallEnd(e); how != "" {
			told += ": " + how
		}
		return told
	}

	told := fmt.Sprintf("%s -> %s, found by %s", e.From, e.To, by)
	if e.To != string(protocol.FrameCrashed) {
		told = fmt.Sprintf("%s -> %s by %s", e.From, e.To, by)
	}
	why := e.Reason
	if cause := op.CauseOf(e); why == "" && cause != nil {
		why = Evidence(cause.Evidence)
	}
	if why != "" {
		told += ": " + why
	}
	return told
}
