package linearize

import "slices"

// Where an operation is.
const (
	nowhere = iota
	here
	archived
)

// An operation is what the model knows of one. It is a value: the slices are never written to.
type operation struct {
	linked      bool // the ledger commits by link
	place       int
	revision    int64
	state       string
	aborted     bool
	passes      int // since it is terminal
	beat        int64
	stack       []frame
	supervisors []supervisor // by id
}

type frame struct {
	call, participant, supervisor string
	contained                     bool
	state                         string
	beat, reported                int64
}

type supervisor struct {
	id         string
	dead, keep bool
	beat       int64
}

func (f frame) live() bool { return f.state != "crashed" && f.state != "cleanedUp" }

func (o operation) terminal() bool { return o.state == "completed" || o.state == "failed" }

func (o operation) equal(p operation) bool {
	return o.place == p.place && o.revision == p.revision && o.state == p.state &&
		o.aborted == p.aborted && o.passes == p.passes &&
		o.beat == p.beat && slices.Equal(o.stack, p.stack) &&
		slices.Equal(o.supervisors, p.supervisors)
}

// index returns where call is in the stack, or -1.
func (o operation) index(call string) int {
	return slices.IndexFunc(o.stack, func(f frame) bool { return f.call == call })
}

func refused(status int) answer { return answer{status: status} }

// said is the answer of a command that leaves o.
func (o operation) said(changed bool) answer {
	return answer{revision: o.revision, state: o.state, changed: changed}
}

// do returns the operation after c, and what c says.
func (o operation) do(c command) (operation, answer) {
	switch {
	case c.verb == "push":
		return o.push(c)
	case o.place == nowhere:
		return o, refused(66)
	case c.verb == "status":
		return o, answer{shown: &o}
	case o.place == archived:
		return o, refused(4)
	case o.terminal() && (c.verb == "heartbeat" || c.verb == "cleanup"):
		return o.countdown(c)
	case o.terminal():
		return o, refused(4)
	}

	switch c.verb {
	case "heartbeat":
		return o.heartbeat(c)
	case "pop":
		return o.pop(c)
	case "ack":
		return o.ack(c)
	case "abort":
		return o.abort(c)
	case "cleanup":
		return o.cleanup(c)
	}

	panic("no such verb: " + c.verb)
}

// countdown is spec §4.5.
func (o operation) countdown(c command) (operation, answer) {
	if o.passes >= 2 {
		o.place = archived
	} else {
		o.passes++
		o.revision++
	}

	a := o.said(true)
	if c.verb == "heartbeat" {
		a.status = 4
	} else {
		a.archived = o.place == archived
	}

	return o, a
}

// push is spec §5.1.
func (o operation) push(c command) (operation, answer) {
	before := o
	if c.reuse && o.place == here && o.terminal() {
		o.place, o.revision = archived, o.revision+int64(2-o.passes)
	}
	if o.place == archived && !c.reuse {
		return o, refused(4)
	}
	if o.place == archived && o.linked {
		o.revision++ // of the end (spec §17.3)
	}
	if o.place != here {
		o = operation{linked: o.linked, place: here, revision: o.revision, state: "running"}
	}

	i := o.index(c.call)
	open := !o.terminal() && i >= 0 && o.stack[i].live()
	switch {
	case open && o.stack[i].participant == c.participant:
		return o, o.said(false)
	case open && o.state != "running":
		return before, refused(76)
	}

	t := o.tick(c)
	t.refresh(func(f frame) bool { return f.participant == c.participant })
	t.judge("")
	switch {
	case o.state != "running", t.o.state != "running":
		if ended, ok := before.endDead(c); c.reuse && ok {
			return ended.push(c)
		}
		return before, refused(76)
	case i < 0:
	case t.o.stack[i].live(), t.o.stack[i].state == "crashed" && !t.abandoned(t.o.stack[i]):
		return before, refused(76)
	default: // a dead call leaves its place
		t.o.stack = slices.Delete(t.o.stack, i, i+1)
	}

	if c.supervisor != "" {
		s := t.supervisor(c.supervisor)
		if s.dead {
			return before, refused(69)
		}
		s.keep = s.keep || c.keep
	}

	t.o.stack = append(t.o.stack, frame{
		call: c.call, participant: c.participant, supervisor: c.supervisor, contained: c.contained,
		state: "active", beat: c.now,
	})

	t.o.beat = c.now

	return t.end()
}

// endDead makes the passes that end an operation whose calls are all dead (spec §15.7), if that is
// so.
func (o operation) endDead(c command) (ended operation, ok bool) {
	for !o.terminal() {
		t := o.tick(c)
		t.judge("")
		for _, f := range t.o.stack {
			if f.live() || f.state == "crashed" && !t.abandoned(f) {
				return o, false
			}
		}
		o, _ = o.cleanup(c)
	}
	return o, true
}

// heartbeat is spec §5.2.
func (o operation) heartbeat(c command) (operation, answer) {
	own := func(f frame) bool {
		return (c.call != "" || c.participant != "") && (c.call == "" || f.call == c.call) &&
			(c.participant == "" || f.participant == c.participant)
	}

	participates := c.call != "" || c.participant != ""
	switch {
	case participates && !slices.ContainsFunc(o.stack, own):
		return o, refused(66)
	case c.cleaning && o.state == "running":
		return o, refused(76)
	}

	t := o.tick(c)
	t.refresh(own)
	if c.supervisor != "" {
		t.beat(c.supervisor)
	}

	t.judge("")
	t.o.beat = c.now
	for i := range t.o.stack {
		if f := &t.o.stack[i]; c.cleaning && f.live() && t.refreshed[f.call] {
			f.state = "cleaningUp"
		}
	}

	after, a := t.end()
	for i := range after.stack {
		if f := &after.stack[i]; c.supervisor != "" && f.supervisor == c.supervisor &&
			f.state == "crashed" {
			if f.reported == 0 {
				f.reported = c.now
			}
			a.crashed += f.call + " "
		}
	}

	switch {
	case participates && !slices.ContainsFunc(after.stack,
		func(f frame) bool { return own(f) && f.live() }):
		a.status = 5
	case after.terminal():
		a.status = 4
	case after.state != "running":
		a.status = 3
	}

	return after, a
}

// pop is spec §5.3.
func (o operation) pop(c command) (operation, answer) {
	i := o.index(c.call)
	if i < 0 {
		return o, refused(66)
	}

	t := o.tick(c)
	t.judge(o.stack[i].participant)
	if c.fail && (t.o.state == "running" || t.o.state == "aborted") {
		t.o.state = "cleanup"
	}

	end := i + 1
	for end < len(t.o.stack) && (t.o.stack[end].state == "cleanedUp" ||
		t.o.stack[end].state == "crashed" && t.nobodys(t.o.stack[end])) {
		end++
	}

	t.o.stack = slices.Delete(t.o.stack, i, end)
	t.o.beat = c.now
	if len(t.o.stack) == 0 && t.o.state == "running" && !c.keepOpen {
		t.o.state = "completed"
	}

	return t.end()
}

// ack is spec §5.6, of one call.
func (o operation) ack(c command) (operation, answer) {
	i := o.index(c.call)
	switch {
	case i < 0:
		return o, refused(66)
	case o.stack[i].supervisor != c.supervisor || o.stack[i].live():
		return o, refused(76)
	case o.stack[i].state == "cleanedUp":
		return o, o.said(false)
	}

	t := o.tick(c)
	t.beat(c.supervisor)
	t.judge("")
	t.o.stack[i].state = "cleanedUp"
	t.o.beat = c.now

	return t.end()
}

// abort is spec §5.4.
func (o operation) abort(c command) (operation, answer) {
	if o.aborted {
		return o, o.said(false)
	}

	t := o.tick(c)
	t.judge("")
	t.o.aborted = true
	if t.o.state == "running" {
		t.o.state = "aborted"
	}
	return t.end()
}

// cleanup is spec §5.5.
func (o operation) cleanup(c command) (operation, answer) {
	const hour = 3600_000
	t := o.tick(c)
	t.judge("")
	if t.o.state == "running" && len(t.o.stack) == 0 && c.now-o.beat > hour {
		t.o.state = "failed"
	}

	after, a := t.end()
	same := after
	same.revision = o.revision
	if same.equal(o) {
		after, a = o, o.said(false)
	}

	for _, f := range after.stack {
		if f.state == "crashed" {
			a.crashed += f.call + " "
		}
	}

	return after, a
}
