package protocol

import "slices"

// stack appends frames. Runs of frames that are unchanged since they were decoded are copied in one
// piece.
func (w *encoder) stack(frames []*Frame) {
	w.open('[')
	for i := 0; i < len(frames); {
		w.element()
		n := w.run(frames[i:])
		if n == 0 {
			w.frame(frames[i])
			n = 1
			if len(w.buf) >= muchText {
				w.flush()
			}
		} else {
			text := w.source.text[frames[i].start:frames[i+n-1].end]
			w.copy(text)
		}

		i += n
	}

	w.close(']')
}

// run returns the number of frames, from the first, that are unchanged since they were decoded,
// adjacent, and have this layout.
func (w *encoder) run(frames []*Frame) (n int) {
	between := "," + lineBreak[:1+2*w.depth]
	for n < len(frames) && w.isDecoded(frames[n]) {
		f := frames[n]
		if !w.laidOut(w.source.text[f.start:f.end]) {
			break
		}
		if n > 0 && (f.start < frames[n-1].end ||
			w.source.text[frames[n-1].end:f.start] != between) {
			break
		}
		n++
	}

	return n
}

// isDecoded reports whether f was decoded from this encoder's source and is unchanged.
func (w *encoder) isDecoded(f *Frame) bool { return f.decoded == f && f.source == w.source }

func (w *encoder) frame(f *Frame) {
	w.open('{')
	w.string("participantId", f.ParticipantID)
	w.string("callId", f.CallID)
	w.text("callerId", f.CallerID)
	w.int("pid", int64(f.PID))
	w.time("startTime", f.StartTime)
	w.time("lastHeartbeat", f.LastHeartbeat)
	w.string("state", string(f.State))
	w.text("supervisorId", f.SupervisorID)
	w.text("supervisorHandle", f.SupervisorHandle)
	w.text("description", f.Description)
	if f.Notice != nil {
		w.notice(*f.Notice)
	}
	if !f.FailOnCrash {
		w.bool("failOnCrash", false)
	}

	w.set("heartbeats", f.Heartbeats)
	if len(f.Resources) > 0 {
		w.name("resources")
		w.array(len(f.Resources), func(i int) { w.quote(f.Resources[i]) })
	}

	w.process(f.Process, f.nested)
	w.beat("beat", f.Beat, f.nested.ofBeat())
	w.grace(f.Grace)
	if f.Crash != nil {
		w.crash(f.Crash, f.nested)
	}

	w.unknown(f.Unknown)
	w.close('}')
}

func (w *encoder) notice(n Notice) {
	w.readiness(n.Readiness)
	w.text("note", n.Note)
}

func (w *encoder) readiness(r Readiness) {
	if r != ReadinessReady {
		w.string("readiness", string(r))
	}
}

func (w *encoder) crash(c *Crash, nested *nestedUnknown) {
	if !c.At.IsZero() {
		w.time("crashedAt", c.At)
	}

	w.text("detectedBy", c.DetectedBy)
	w.text("evidence", string(c.Evidence))
	if !c.At.IsZero() || c.StaleFor != 0 {
		w.milliseconds("staleForMs", c.StaleFor)
	}

	w.text("previousState", string(c.PreviousState))
	w.leftResources(c.LeftResources)
	if !c.ReportedAt.IsZero() {
		w.time("reportedAt", c.ReportedAt)
	}

	w.beat("reportedBeat", c.ReportedBeat, nested.ofTold())
	if h := c.HandlingBy; h != nil {
		w.name("handlingBy")
		w.open('{')
		w.int("pid", int64(h.PID))
		w.process(h.Process, h.nested)
		w.time("at", h.At)
		w.unknown(h.Unknown)
		w.close('}')
	}
}

func (w *encoder) leftResources(left []LeftResource) {
	if len(left) == 0 {
		return
	}

	w.name("leftResources")
	w.array(len(left), func(i int) {
		w.open('{')
		w.string("path", left[i].Path)
		w.string("error", left[i].Error)
		w.unknown(left[i].Unknown)
		w.close('}')
	})
}

func (w *encoder) process(p Process, nested *nestedUnknown) {
	w.identity("process", p, nested.ofProcess())
}

func (w *encoder) identity(name string, p Process, unknown []Member) {
	if p == (Process{}) {
		return
	}

	w.name(name)
	w.open('{')
	w.int("pid", int64(p.PID))
	w.string("hostId", p.HostID)
	w.string("bootId", p.BootID)
	w.string("pidNamespace", p.PIDNamespace)
	w.int("startTicks", p.StartTicks)
	w.unknown(unknown)
	w.close('}')
}

func (w *encoder) beat(name string, b Beat, unknown []Member) {
	if b.At.IsZero() {
		return
	}

	w.name(name)
	w.open('{')
	w.string("bootId", b.BootID)
	w.int("monotonicMs", b.MonotonicMs)
	w.time("at", b.At)
	w.unknown(unknown)
	w.close('}')
}

func (w *encoder) supervisor(s *Supervisor) {
	w.open('{')
	w.string("supervisorId", s.ID)
	w.int("pid", int64(s.PID))
	w.time("lastHeartbeat", s.LastHeartbeat)
	w.string("status", string(s.Status))
	if s.OrphanPolicy != OrphanCrash {
		w.string("orphanPolicy", string(s.OrphanPolicy))
	}

	w.set("heartbeats", s.Heartbeats)
	w.process(s.Process, s.nested)
	w.beat("beat", s.Beat, s.nested.ofBeat())
	w.grace(s.Grace)
	w.unknown(s.Unknown)
	w.close('}')
}

func (w *encoder) transition(t *Transition) {
	w.open('{')
	w.transitionMembers(t)
	w.unknown(t.Unknown)
	w.close('}')
}

func (w *encoder) transitionMembers(t *Transition) {
	w.int("revision", t.Revision)
	w.string("from", string(t.From))
	w.string("to", string(t.To))
	w.timeUnlessZero("at", t.At)
	w.string("by", t.By)
	w.string("reason", t.Reason)
}

func (w *encoder) event(e *Event) {
	w.open('{')
	w.eventMembers(e)
	w.unknown(e.Unknown)
	w.close('}')
}

func (w *encoder) eventMembers(e *Event) {
	w.int("revision", e.Revision)
	w.timeUnlessZero("at", e.At)
	w.string("type", string(e.Type))
	w.text("callId", e.CallID)
	w.text("callerId", e.CallerID)
	w.text("supervisorId", e.SupervisorID)
	w.text("handle", e.Handle)
	w.text("from", e.From)
	w.text("to", e.To)
	w.text("by", e.By)
	w.text("reason", e.Reason)
	w.leftResources(e.LeftResources)
}

// sameSupervisor reports whether a and b have the same text. TestSameSupervisorNoticesEveryField
// checks that it is complete.
func sameSupervisor(a, b Supervisor) bool {
	return a.ID == b.ID && a.PID == b.PID && a.LastHeartbeat.Equal(b.LastHeartbeat) &&
		a.Status == b.Status &&
		a.OrphanPolicy == b.OrphanPolicy && a.Heartbeats == b.Heartbeats &&
		a.Process == b.Process && a.Beat == b.Beat &&
		a.Grace == b.Grace && slices.Equal(a.Unknown, b.Unknown) && a.nested == b.nested
}
