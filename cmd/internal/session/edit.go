package session

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// ErrEnded means that a call was pushed in an operation that has ended but is not yet in the
// archive.
var ErrEnded = errors.New("it has ended")

// An Edit is the result of an edit of an operation, and a GroupEdit of one of a group.
type (
	Edit      = fileops.Edit[protocol.Operation]
	GroupEdit = fileops.Edit[group.Group]
)

// Created reports whether e made its operation.
func Created(e Edit) bool { return e.Before.ID == "" && !e.Archived }

// Committed reports whether this session has committed an edit.
func (s *Session) Committed() bool { return s.committed }

// NoteCommit records that something has been committed other than by an edit of this session.
func (s *Session) NoteCommit() { s.committed = true }

// EditOperation applies verb to the operation id of l. In a dry run it changes nothing.
func (s *Session) EditOperation(
	l *fileops.Ledger, id string, mode fileops.Mode, verb fileops.Verb[protocol.Operation],
) (Edit, error) {
	edit, err := l.EditOperation(id, s.mode(mode), verb)
	s.note(err == nil && edit.Changed())
	return edit, err
}

// EndCall ends a call of the operation id of l, and may publish files. See fileops.Ledger.EndCall.
func (s *Session) EndCall(l *fileops.Ledger, id string,
	verb func(why error) fileops.Verb[protocol.Operation]) (Edit, error) {
	edit, err := l.EndCall(id, verb)
	s.note(err == nil && edit.Changed())
	return edit, err
}

// FinishOperation applies verb to the operation id of l, an attempt, and removes or archives it if
// that ends it. See fileops.Ledger.FinishOperation.
func (s *Session) FinishOperation(l *fileops.Ledger, id string,
	verb fileops.Verb[protocol.Operation]) (Edit, error) {
	edit, err := l.FinishOperation(id, verb)
	s.note(err == nil)
	return edit, err
}

// EditGroup applies verb to the group id of l. In a dry run it changes nothing.
func (s *Session) EditGroup(
	l *fileops.Ledger, id string, mode fileops.Mode, verb fileops.Verb[group.Group],
) (GroupEdit, error) {
	edit, err := l.EditGroup(id, s.mode(mode), verb)
	s.note(err == nil && edit.Changed())
	return edit, err
}

func (s *Session) note(changed bool) { s.committed = s.committed || changed && !s.DryRun() }

// mode returns mode, combined with DryRun in a dry run.
func (s *Session) mode(mode fileops.Mode) fileops.Mode {
	if s.DryRun() {
		mode |= fileops.DryRun
	}
	return mode
}

// Archive makes the passes that move an operation that is over to the archive (spec §4.5).
func (s *Session) Archive(l *fileops.Ledger, id string) error {
	for {
		op, archived, err := l.ReadOperation(id)
		if errors.Is(err, fileops.ErrNotFound) {
			return nil
		}
		if err != nil || archived || !op.State.Terminal() {
			return err
		}

		_, err = l.EditOperation(id, fileops.Existing, s.cleanup)
		if err != nil && !errors.Is(err, fileops.ErrArchived) {
			return err
		}

		s.NoteCommit()
	}
}

// cleanup makes a pass of this command over an operation.
func (s *Session) cleanup(
	op protocol.Operation, seen observe.Observation,
) (protocol.Operation, error) {
	return op.Cleanup(s.options.Program, seen)
}

// Pushing says how a push treats an operation that is missing or over.
type Pushing struct {
	Reuse       bool // start over an operation that has ended
	CallerMayGo bool // push without a caller if the caller is not in the operation
	Rehearse    bool // with Reuse, in a dry run: as if what is over were in the archive already
}

// Push returns the verb that pushes p in the operation op, and creates the operation if allowed.
// The verb returns fileops.ErrArchived if the operation is in the archive, ErrEnded if it has
// ended, and the errors of protocol.Operation.Push.
func (how Pushing) Push(op string, p protocol.Push) fileops.Verb[protocol.Operation] {
	return func(before protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
		if how.Reuse && how.Rehearse {
			before = archived(before, p.Participant, seen)
		}

		ended := before.State.Terminal()
		if before.ID == "" {
			if before.Revision > 0 && !how.Reuse {
				return before, fileops.ErrArchived
			}
			schema, revision := before.Schema, before.Revision
			before = protocol.Create(op, process.NewStartID(), p.Interval, p.Threshold)
			before.Schema, before.Revision = schema, revision
		}

		p := p
		if how.CallerMayGo && before.Frame(p.Caller) == nil {
			p.Caller = ""
		}

		after, err := before.Push(p, seen)
		if ended && errors.Is(err, protocol.ErrNotRunning) {
			err = fmt.Errorf("%w: %w", err, ErrEnded)
		}

		return after, err
	}
}

// archived returns what the next push finds after passes of by over op, if that has ended or all of
// its calls are dead. Otherwise, or if a pass does not end it, it returns op.
func archived(op protocol.Operation, by string, seen observe.Observation) protocol.Operation {
	for now := op; now.State.Terminal() || errors.Is(now.MayBegin(seen), protocol.ErrDeadCalls); {
		after, err := now.Cleanup(by, seen)
		switch {
		case errors.Is(err, protocol.ErrExpired):
			return protocol.Operation{Schema: now.Schema, Revision: now.Revision}
		case err != nil || after.Revision == now.Revision:
			return op
		}
		now = after
	}
	return op
}
