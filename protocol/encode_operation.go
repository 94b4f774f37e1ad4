package protocol

import "slices"

// frame appends f: its text, if it is as it was decoded.
func (w *encoder) frame(f *Frame) {
	if w.copied(f.text, f.decoded == f) {
		return
	}
	w.open('{')
	w.string("participantId", f.ParticipantID)
	w.string("callId", f.CallID)
	w.int("pid", int64(f.PID))
	w.time("startTime", f.StartTime)
	w.time("lastHeartbeat", f.LastHeartbeat)
	w.string("state", string(f.State))
	w.orNull("supervisorId", f.SupervisorID)
	w.orNull("supervisorHandle", f.SupervisorHandle)
	w.text("description", f.Description)
	if !f.FailOnCrash {
		w.bool("failOnCrash", false)
	}
	if len(f.Resources) > 0 {
		w.name("resources")
		w.array(len(f.Resources), func(i int) { w.quote(f.Resources[i]) })
	}
	w.leftResources(f.LeftResources)
	w.process(f.Process, f.processUnknown)
	w.beat(f.Beat, f.beatUnknown)
	if c := f.Crash; c != nil {
		w.time("crashedAt", c.At)
		w.string("detectedBy", c.DetectedBy)
		w.string("evidence", string(c.Evidence))
		w.milliseconds("staleForMs", c.StaleFor)
		w.string("previousState", string(c.PreviousState))
	}
	if !f.ReportedAt.IsZero() {
		w.time("reportedAt", f.ReportedAt)
	}
	if h := f.HandlingBy; h != nil {
		w.name("handlingBy")
		w.open('{')
		w.int("pid", int64(h.PID))
		w.process(h.Process, h.processUnknown)
		w.time("at", h.At)
		w.unknown(h.Unknown)
		w.close('}')
	}
	w.unknown(f.Unknown)
	w.close('}')
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

func (w *encoder) process(p Process, unknown []Member) {
	if p == (Process{}) {
		return
	}
	w.name("process")
	w.open('{')
	w.int("pid", int64(p.PID))
	w.string("hostId", p.HostID)
	w.string("bootId", p.BootID)
	w.string("pidNamespace", p.PIDNamespace)
	w.int("startTicks", p.StartTicks)
	w.unknown(unknown)
	w.close('}')
}

func (w *encoder) beat(b Beat, unknown []Member) {
	if b.At.IsZero() {
		return
	}
	w.name("beat")
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
	w.process(s.Process, s.processUnknown)
	w.beat(s.Beat, s.beatUnknown)
	w.unknown(s.Unknown)
	w.close('}')
}

func (w *encoder) transition(t *Transition) {
	w.open('{')
	w.int("revision", t.Revision)
	w.string("from", string(t.From))
	w.string("to", string(t.To))
	w.time("at", t.At)
	w.string("by", t.By)
	w.string("reason", t.Reason)
	w.unknown(t.Unknown)
	w.close('}')
}

func (w *encoder) event(e *Event) {
	w.open('{')
	w.int("revision", e.Revision)
	w.time("at", e.At)
	w.string("type", string(e.Type))
	w.text("callId", e.CallID)
	w.text("supervisorId", e.SupervisorID)
	w.text("handle", e.Handle)
	w.text("from", e.From)
	w.text("to", e.To)
	w.text("by", e.By)
	w.text("reason", e.Reason)
	w.leftResources(e.LeftResources)
	w.unknown(e.Unknown)
	w.close('}')
}

// sameSupervisor reports whether a and b have the same text. TestSameSupervisorNoticesEveryField keeps it complete.
func sameSupervisor(a, b Supervisor) bool {
	return a.ID == b.ID && a.PID == b.PID && a.LastHeartbeat.Equal(b.LastHeartbeat) && a.Status == b.Status &&
		a.OrphanPolicy == b.OrphanPolicy && a.Process == b.Process && a.Beat == b.Beat &&
		slices.Equal(a.Unknown, b.Unknown) &&
		slices.Equal(a.processUnknown, b.processUnknown) && slices.Equal(a.beatUnknown, b.beatUnknown)
}
