package run

import (
	"os"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// note returns what the keeper of c needs to hold its pipes: see keepOn. Before the push the run is
// not known.
func (c *call) note() []byte {
	return noteOf(c.Ledger, c.Op, c.Run, c.Push.Call, c.Push.StartID, c.Push.Participant, c.callers)
}

func noteOf(l *fileops.Ledger, op, run, call, startID, participant string, callers []string) []byte {
	fields := append([]string{l.Dir(), op, run, call, startID, participant,
		os.Getenv(process.StartVariable)}, callers...)
	return []byte(strings.Join(fields, "\x00"))
}

// keepOn is what a keeper does in the place of its runner once it has ended the job: it makes the
// pass that finds the crash, holds the pipes, and ends the operation if no call is left.
func keepOn(note []byte, held []int) {
	fields := strings.Split(string(note), "\x00")
	if len(fields) < 7 {
		return
	}
	s := session.New(session.Options{Program: "dpl-run", Ledger: fields[0],
		LockTimeout: longestHold})
	l, err := s.Open()
	if err != nil {
		return
	}

	h := hold{ledger: l, observe: s.Observer(), op: fields[1], run: fields[2], call: fields[3],
		callers: fields[7:], mine: strings.Split(fields[6], ","), held: held,
		say: func(string) {}}
	by := fields[5]
	if h.run == "" { // its runner was killed in the push
		op, archived, err := l.ReadOperation(h.op)
		f := op.Frame(h.call)
		if err != nil || archived || f == nil || f.StartID != fields[4] {
			return
		}
		h.run, h.callers = op.RunID, callersOf(op, f.CallerID)
	}
	for end := time.Now().Add(longestHold); time.Now().Before(end); time.Sleep(holdPause) {
		edit, err := s.EditOperation(l, h.op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if op.RunID != h.run || op.State.Terminal() {
					return op, protocol.ErrOver
				}
				return op.Cleanup(by, seen)
			})
		state := edit.After.State
		switch {
		case err != nil && !calls.Gone(err):
			continue // the disk is full, or the lock is held
		case err == nil && (state == protocol.Running || state == protocol.Completed):
			return
		}
		h.wait()
		s.EndDead(l, h.op, h.run, by) // if it cannot, the next pass does
		return
	}
}
