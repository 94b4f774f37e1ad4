package queue

import (
	"io"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns the content of the queue's file: members in the order of spec §33, with each task
// on a line of its own. Tasks that are unchanged since they were decoded keep their text.
func (q Queue) Encode() string { return wire.Text(q.write) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (q Queue) WriteTo(out io.Writer) (n int64, err error) { return wire.Write(out, q.write) }

func (q Queue) write(w *wire.Writer) {
	src := q.source
	if src == nil {
		src = &source{}
	}

	w.OptString("$schema", q.Schema)
	w.Int("protocolVersion", int64(q.ProtocolVersion))
	w.String("queueId", q.ID)
	w.Int("revision", q.Revision)
	w.Object("policy", q.Policy.write)
	if q.Goal != nil {
		w.Object("goal", q.Goal.write)
	}
	if len(q.Halts) > 0 {
		wire.WriteAll(w, "halts", q.Halts, (*Halt).write)
	}
	if q.Permits.Limited {
		w.Int("permits", q.Permits.Left)
	}

	w.OptBool("closed", q.Closed)
	w.OptBool("removed", q.Removed)
	w.Int("lastSeq", q.LastSeq)
	w.Int("lastEpoch", q.LastEpoch)
	w.OptInt("deadSinceResume", q.Dead)
	w.OptInt("failuresInRow", q.Failures)
	w.Object("counters", q.Counters.write)

	w.Rows("tasks", src.text, len(q.Tasks), func(i int) wire.Piece {
		return q.Tasks[i].pieceOf(q.source)
	}, func(i int, w *wire.Writer) { q.Tasks[i].write(w) })

	w.Rows("ended", src.text, len(q.Ended), func(i int) wire.Piece {
		if e := &q.Ended[i]; e.source == q.source {
			return e.piece
		}
		return wire.Piece{}
	}, func(i int, w *wire.Writer) { q.Ended[i].write(w) })

	q.Audit.Member(w.Codec())
	w.Unknown(q.Unknown)
}

// pieceOf returns the piece of src that t was decoded from, or none if t was changed or made since.
func (t *Task) pieceOf(src *source) wire.Piece {
	if t.decoded != t || t.source != src {
		return wire.Piece{}
	}
	return t.piece
}

func (p Policy) write(w *wire.Writer) {
	w.OptInt("slots", p.Slots)
	w.Int("maxAttempts", p.MaxAttempts)
	w.AllMilliseconds("backoffMs", p.Backoff)
	if p.OnDeadDependency != DependencyWait {
		w.String("onDeadDependency", string(p.OnDeadDependency))
	}

	words := make([]string, len(p.HaltOn))
	for i, rule := range p.HaltOn {
		words[i] = rule.String()
	}
	w.Strings("haltOn", words)

	w.OptInt("depth", p.Depth)
	if p.AgeAfter > 0 {
		w.Milliseconds("ageAfterMs", p.AgeAfter)
	}
	w.Milliseconds("rememberForMs", p.RememberFor)
	w.Unknown(p.Unknown)
}

func (g *Goal) write(w *wire.Writer) {
	w.String("description", g.Description)
	w.OptBool("completed", g.Completed)
	w.Unknown(g.Unknown)
}

func (h *Halt) write(w *wire.Writer) {
	w.String("by", h.By)
	w.String("reason", h.Reason)
	w.OptString("details", h.Details)
	w.OptTime("at", h.At)
	w.OptBool("automatic", h.Automatic)
	w.OptBool("alerted", h.Alerted)
	w.Unknown(h.Unknown)
}

func (c Counters) write(w *wire.Writer) {
	w.OptInt("enqueued", c.Enqueued)
	w.OptInt("claimed", c.Claimed)
	w.OptInt("done", c.Done)
	w.OptInt("dead", c.Dead)
	w.OptInt("cancelled", c.Cancelled)
	w.OptInt("expired", c.Expired)
	w.OptInt("allowed", c.Allowed)
	w.OptInt("denied", c.Denied)
	w.OptInt("answered", c.Answered)
	w.OptInt("timedOut", c.TimedOut)
	w.OptInt("withdrawn", c.Withdrawn)
	if len(c.Ends) > 0 {
		w.Object("ends", func(w *wire.Writer) {
			for _, e := range c.Ends {
				w.Int(string(e.End), e.Count)
			}
		})
	}

	w.OptInt("firstClaims", c.FirstClaims)
	w.OptInt("waitedMs", c.Waited.Milliseconds())
	w.OptInt("longestWaitMs", c.LongestWait.Milliseconds())
	w.OptInt("ranMs", c.Ran.Milliseconds())
	w.OptInt("longestRunMs", c.LongestRun.Milliseconds())
	w.Unknown(c.Unknown)
}

func (t *Task) write(w *wire.Writer) {
	w.String("taskId", t.ID)
	w.Int("seq", t.Seq)
	if t.State != Waiting {
		w.String("state", string(t.State))
	}

	w.OptInt("priority", t.Priority)
	if isInline(t.Spec) {
		w.Raw("spec", t.Spec)
	} else {
		w.String("spec", t.Spec)
	}
	w.OptString("key", t.Key)
	w.OptString("group", t.Group)
	if len(t.After) > 0 {
		w.Strings("after", t.After)
	}

	w.Time("enqueuedAt", t.EnqueuedAt)
	w.OptString("traceparent", t.Traceparent)
	w.OptInt("maxAttempts", t.MaxAttempts)
	w.OptTime("notBefore", t.NotBefore)
	t.delay.write(w, "delay")
	t.expiry.write(w, "expiry")
	w.OptInt("attempts", t.Attempts)
	w.OptInt("tries", t.Tries)
	w.OptInt("charged", t.Charged)
	t.Last.write(w, time.Time{})
	w.OptInt("sameError", t.SameError)
	w.OptString("reason", t.Reason)
	w.OptString("question", t.Question)
	w.OptBool("alerted", t.Alerted)
	if t.Claim != nil {
		w.Object("claim", t.Claim.write)
	}
	if t.Ask != nil {
		w.Object("ask", t.Ask.write)
	}
	w.Unknown(t.Unknown)
}

// write writes the members of a, without its time if that is usual.
func (a Attempt) write(w *wire.Writer, usual time.Time) {
	w.OptInt("lastEpoch", a.Epoch)
	w.OptString("lastEnd", string(a.End))
	w.OptInt("lastStatus", a.Status)
	w.OptString("lastReason", a.Reason)
	w.OptBool("lastJudged", a.Judged)
	w.OptString("lastBy", a.By)
	if !a.At.Equal(usual) {
		w.OptTime("lastAt", a.At)
	}
	w.OptInt("lastRanMs", a.Ran.Milliseconds())
}

func (c *Claim) write(w *wire.Writer) {
	w.Int("epoch", c.Epoch)
	w.Time("at", c.At)
	c.Beat.Write(w, "beat", c.nested)
	w.String("participant", c.Participant)
	w.OptInt("pid", int64(c.PID))
	c.Process.Write(w, "process", c.nested)
	c.Keeper.Write(w, "keeper", c.nested)
	w.OptString("operation", c.Operation)
	w.OptString("call", c.Call)
	w.OptInt("deadlineMs", c.Deadline.Milliseconds())
	w.OptString("stop", string(c.Stop))
	w.OptString("stopReason", c.StopReason)
	if o := c.Intent; o != nil {
		w.Object("intent", func(w *wire.Writer) {
			w.String("end", string(o.End))
			w.OptInt("status", o.Status)
			w.OptString("reason", o.Reason)
			w.OptString("question", o.Question)
			w.OptInt("delayMs", o.Delay.Milliseconds())
			w.Unknown(c.nested.Of("intent"))
		})
	}
	w.Unknown(c.Unknown)
}

func (e *Ended) write(w *wire.Writer) {
	w.String("taskId", e.ID)
	w.String("end", string(e.End))
	w.String("spec", e.Spec)
	w.OptString("keyId", e.KeyID)
	e.Last.write(w, e.At)
	w.Time("at", e.At)
	if e.Decision != nil {
		w.Object("decision", e.Decision.write)
	}
	w.Unknown(e.Unknown)
}
