package simulation

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ledger is what is known about one operation: all attempted edits, and which of them were
// acknowledged.
type ledger struct {
	id     string
	edits  []*edit
	acked  *edit // the last one that a command has ended well with
	strong *edit // the last one that has to survive a power cut
	file   *edit // as which it was archived
}

// edit is one version of an operation that was tried.
type edit struct {
	tag    int
	rev    int64
	parent *edit // the edit it was made from; nil: no operation
	by     by
	void   bool // the command said that nothing was changed
	state  protocol.State
	beats  []string // whose heartbeats are new
	dead   []string // calls that have crashed
	wrong  error    // its fault, if it is ever made
	made   bool     // it was made: someone has read it, or an edit made from it
	at     beat
}

// by is a command of an actor.
type by struct{ name, command string }

func (b by) String() string { return b.name + ": " + b.command }

// beat is when a heartbeat was made.
type beat struct {
	host      *host
	boot      int
	monotonic int64
	now       int64 // by the true time
}

func (w *world) operation(id string) *ledger {
	l := w.operations[id]
	if l == nil {
		l = &ledger{id: id}
		w.operations[id] = l
	}
	return l
}

// tag is the member by which a version is recognized.
func tag(n int) []wire.Member {
	return []wire.Member{{Name: "simulated", Value: strconv.Itoa(n)}}
}

// edit returns the edit that made op, nil for none.
func (l *ledger) edit(op protocol.Operation) *edit {
	if len(op.Unknown) != 1 {
		return nil
	}
	n, err := strconv.Atoi(op.Unknown[0].Value)
	if err != nil || n >= len(l.edits) || l.edits[n].rev != op.Revision {
		return nil
	}
	return l.edits[n]
}

// has reports whether e is other or was made from it.
func (e *edit) has(other *edit) bool {
	for e != nil && other != nil && e.rev > other.rev {
		e = e.parent
	}
	return e == other
}

// seen checks a version that was read after floor was acknowledged, and returns it.
func (l *ledger) seen(w *world, op protocol.Operation, floor *edit) *edit {
	e := l.edit(op)
	switch {
	case e == nil:
		w.fail("%s: nobody has written revision %d: %+v", l.id, op.Revision, op)
		return nil
	case e.void && !w.kind.lease:
		w.fail("%s: there is revision %d of %s, who said that nothing was changed", l.id, e.rev,
			e.by)
	case floor != nil && !e.has(floor):
		w.fail("%s: revision %d of %s was acknowledged and is lost: there is revision %d of %s",
			l.id, floor.rev, floor.by, e.rev, e.by)
	}

	e.isMade(w)
	for _, f := range op.Stack {
		switch {
		case !f.State.Live():
			w.did(didCrash)
		case e.parent != nil && slices.Contains(e.parent.dead, f.CallID):
			w.fail("%s: %s had crashed and is %s again", l.id, f.CallID, f.State)
		}
	}

	return e
}

// reads is what a verb is given.
func (l *ledger) reads(c *command, op protocol.Operation) *edit {
	floor := l.acked
	if c.w.kind.lease {
		floor = nil // its holder may have lost the lock: then its commit must not succeed
	}
	if op.ID != "" {
		return l.seen(c.w, op, floor)
	}

	if op.Revision == 0 {
		if floor != nil {
			c.w.fail("%s: %s finds nothing, but revision %d of %s was acknowledged", l.id, c.a.name,
				floor.rev, floor.by)
		}
		return nil
	}

	archived := op.Revision
	if c.w.kind.commit == fileops.CommitLink {
		archived-- // the version that says so also counts
	}
	if e := l.archived(c.w, archived); e != nil {
		return e
	}
	if !c.w.kind.lease { // otherwise it may have been started over
		c.w.fail("%s: nobody has archived revision %d", l.id, archived)
	}

	return nil
}

// archived returns what was archived at a revision, or nil.
func (l *ledger) archived(w *world, revision int64) *edit {
	for _, name := range w.disk.Names(ledgerDir + "/archive") {
		if !strings.HasPrefix(name, l.id+".") && !strings.HasPrefix(name, l.id+"~") {
			continue
		}
		text, _ := w.disk.ReadFile(ledgerDir + "/archive/" + name)
		if op, err := protocol.Decode(string(text)); err == nil && op.Revision == revision {
			return l.edit(op)
		}
	}

	return nil
}

// attempt records an attempt to make after.
func (l *ledger) attempt(c *command, parent *edit, before, after protocol.Operation,
	seen observe.Observation) *edit {
	h := c.a.p.host
	e := &edit{
		tag: len(l.edits), rev: after.Revision, parent: parent, by: by{c.a.name, c.name},
		state: after.State,
		at:    beat{h, h.boot, seen.MonotonicMs, c.looked},
	}

	for _, f := range after.Stack {
		if !f.State.Live() {
			e.dead = append(e.dead, f.CallID)
		}
		if old := before.Frame(f.CallID); f.State.Live() && f.LastHeartbeat.Equal(seen.Now) &&
			(old == nil || old.Beat != f.Beat) {
			e.beats = append(e.beats, f.CallID)
		}
	}

	for _, s := range after.Supervisors {
		if old, _ := before.Supervisor(s.ID); s.LastHeartbeat.Equal(seen.Now) &&
			old.Beat != s.Beat {
			e.beats = append(e.beats, l.id+"/"+s.ID)
		}
	}

	l.edits = append(l.edits, e)
	return e
}

// ends notes what became of the last attempt of a command that was not killed.
func (l *ledger) ends(c *command, e *edit, archived, weak bool, err error) {
	committed := errors.Is(err, fileops.ErrCommitted)
	switch {
	case e == nil:
	case errors.Is(err, fileops.ErrUnknown):
	case err != nil && !committed:
		e.void = !archived
	default:
		l.ack(c.w, e, weak || committed)
		if archived {
			c.w.did(didArchive)
			if err == nil {
				l.file = e
			}
		}
	}
}

// isMade records that e has become the operation, whether or not its command lived to report it.
func (e *edit) isMade(w *world) {
	for ; e != nil && !e.made; e = e.parent {
		e.made = true
		for _, who := range e.beats {
			if e.at.now > w.beats[who].now {
				w.beats[who] = e.at
			}
		}

		if e.wrong != nil {
			w.fail("%v: %w", e.by, e.wrong)
		}
	}
}

// ack notes that a command has ended well with e.
func (l *ledger) ack(w *world, e *edit, weak bool) {
	e.isMade(w)
	switch {
	case l.acked == nil || e.has(l.acked):
		l.acked = e
	case !l.acked.has(e):
		w.fail("%s: revision %d of %s and revision %d of %s are both acknowledged, and neither "+
			"has the other",
			l.id, l.acked.rev, l.acked.by, e.rev, e.by)
	}

	if !weak && (l.strong == nil || e.has(l.strong)) {
		l.strong = e
	}
}

// lostPower: whatever was weak may be gone.
func (l *ledger) lostPower() { l.acked = l.strong }

// checkCountdown checks that an operation that is archived was terminal for two edits (spec §4.5).
func (l *ledger) checkCountdown(w *world, e *edit) {
	n := 0
	for p := e; p != nil && p.state.Terminal(); p = p.parent {
		n++
	}
	if n != 3 {
		w.fail("%s is archived after %d terminal revisions, not 3", l.id, n)
	}
}
