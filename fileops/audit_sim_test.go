package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// auditWorld is a disk with a queue, of which each edit is that of a process.
type auditWorld struct {
	disk   *simfs.Disk
	commit string
	edits  int
}

func newAuditWorld(commit string) *auditWorld {
	w := &auditWorld{disk: simfs.New(), commit: commit}
	w.ledger(&simfs.Process{Disk: w.disk})
	return w
}

func (w *auditWorld) ledger(p *simfs.Process) (*Ledger, error) {
	return Create("/l", Config{Commit: w.commit}, Options{FS: p, LockTimeout: time.Hour,
		Observe: func() observe.Observation { return observe.Observation{Now: queueTime} }})
}

// edit adds a task, as a process that fault hits.
func (w *auditWorld) edit(fault simfs.Fault) (p *simfs.Process, err error) {
	w.edits++
	id := fmt.Sprint("t", w.edits)
	p = &simfs.Process{Disk: w.disk, Fault: fault}
	p.Run(func() {
		var l *Ledger
		if l, err = w.ledger(p); err == nil {
			_, err = l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Enqueue([]queue.New{{ID: id, Spec: "{}"}}, seen)
			})
		}
	})
	return p, err
}

// record returns the lines of the record, pending ones among them, and what is wrong with it.
func (w *auditWorld) record() (lines []audit.Line, found []audit.Finding, err error) {
	l, err := w.ledger(&simfs.Process{Disk: w.disk})
	if err != nil {
		return nil, nil, err
	}
	return recordOf(l)
}

func recordOf(l *Ledger) (lines []audit.Line, found []audit.Finding, err error) {
	object, err := l.AuditedQueue("q")
	if err != nil {
		return nil, nil, err
	}
	v := &audit.Verifier{State: audit.State{Shape: object.Shape}}
	take := func(text string) {
		line, err := audit.Parse(text)
		if err == nil && (len(lines) == 0 || line.Seq > lines[len(lines)-1].Seq) {
			lines = append(lines, line)
		}
	}
	end, err := object.Read(func(texts []string) {
		for _, text := range texts {
			v.Line(audit.Parse(text))
			take(text)
		}
	})
	if err != nil || errors.Is(end.Err, queue.ErrNoQueue) && len(lines) == 0 {
		return nil, nil, err
	}
	for _, text := range end.Chain.Pending {
		take(text)
	}
	v.Rest(end.Rest)
	v.End(end.Chain, end.Text)
	return lines, v.Findings, end.Err
}

// check checks that the record is whole, and has one line for each revision of the queue.
func (w *auditWorld) check() error {
	lines, found, err := w.record()
	if err != nil || found != nil {
		return fmt.Errorf("%v, %v", found, err)
	}
	l, err := w.ledger(&simfs.Process{Disk: w.disk})
	if err != nil {
		return err
	}
	q, err := l.ReadQueue("q")
	if errors.Is(err, queue.ErrNoQueue) {
		return nil
	}
	if err != nil || int64(len(lines)) != q.Revision {
		return fmt.Errorf("%d lines at revision %d, %v", len(lines), q.Revision, err)
	}
	for i, line := range lines {
		if line.Seq != int64(i+1) || line.Revision != line.Seq || line.Verb != "enqueue" {
			return fmt.Errorf("line %d: %s", i+1, line.Text)
		}
	}
	return nil
}

// A process may be killed before any call, or a call may fail, and the power may be cut after that:
// no line is lost, and none is there twice. The edits before have left the log without lines, with
// pending ones, and with as many as are made durable.
func TestAuditFaults(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		for _, before := range []int{0, 1, manyPending - 1, manyPending, manyPending + 1} {
			for _, fault := range []simfs.Fault{{}, {Err: syscall.EIO}, {Err: syscall.EIO, Late: true},
				{Err: syscall.ENOSPC}} {
				t.Run(fmt.Sprint(commit, before, fault.Err, fault.Late), func(t *testing.T) {
					t.Parallel()
					hitEach(t, commit, before, fault, false)
				})
			}
		}
		t.Run(commit+" without a log", func(t *testing.T) {
			t.Parallel()
			hitEach(t, commit, manyPending, simfs.Fault{}, true)
		})
	}
}

// hitEach lets fault hit each call of an edit after some others, whose lines are all pending if the
// log is then removed.
func hitEach(t *testing.T, commit string, before int, fault simfs.Fault, remove bool) {
	cuts := []uint64{0, 1, 2, 3}
	if fault.Err != nil {
		cuts = cuts[:2]
	}
	for fault.At = 1; ; fault.At++ {
		for _, cut := range cuts {
			w := newAuditWorld(commit)
			for range before {
				if _, err := w.edit(simfs.Fault{}); err != nil {
					t.Fatal(err)
				}
			}

			if remove {
				p := &simfs.Process{Disk: w.disk}
				must(t, p.Remove("/l/queues/q.audit.jsonl"))
				w.disk.Flush()
			}
			p, _ := w.edit(fault)
			if p.Calls < fault.At {
				return
			}
			if cut > 0 {
				w.disk.PowerLoss(rand.New(rand.NewPCG(cut, uint64(fault.At))))
			}
			if err := w.check(); err != nil {
				t.Fatalf("call %d, power cut %d: %v", fault.At, cut, err)
			}
			for range 2 {
				if _, err := w.edit(simfs.Fault{}); err != nil {
					t.Fatalf("call %d, power cut %d: the next edit: %v", fault.At, cut, err)
				}
			}
			if err := w.check(); err != nil {
				t.Fatalf("call %d, power cut %d: after the next edits: %v", fault.At, cut, err)
			}
		}
	}
}

// The fsync of the log fails, and the process is killed then. A later fsync does not write what
// that one should have.
func TestAuditFailedFsync(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		w := newAuditWorld("rename")
		for range 2 * manyPending {
			w.edit(simfs.Fault{})
		}
		p := &simfs.Process{Disk: w.disk}
		appends, failed, killed := false, false, false
		p.Trace = func(call string) {
			switch {
			case failed && !killed:
				killed = true
				p.Fault = simfs.Fault{At: p.Calls}
			case call == "fsync" && appends && !failed:
				failed = true
				p.Fault = simfs.Fault{At: p.Calls, Err: syscall.EIO}
			}
			appends = appends || strings.HasPrefix(call, "open append")
		}
		w.edits++
		p.Run(func() {
			l, err := w.ledger(p)
			must(t, err)
			enqueue(t, l, "{}", "failed")
		})
		if !killed {
			t.Fatal("it was not killed")
		}

		for range manyPending + 1 {
			w.edit(simfs.Fault{})
		}
		w.disk.PowerLoss(rand.New(rand.NewPCG(seed, 1)))
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that seals the log may be killed before any call.
func TestAuditSealFaults(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		for at, done := 1, false; !done; at++ {
			for _, again := range []bool{false, true} {
				w := newAuditWorld(commit)
				for range 3 {
					w.edit(simfs.Fault{})
				}
				seal := func(fault simfs.Fault) *simfs.Process {
					p := &simfs.Process{Disk: w.disk, Fault: fault}
					p.Run(func() {
						if l, err := w.ledger(p); err == nil {
							sealQueue(l)
						}
					})
					return p
				}
				done = seal(simfs.Fault{At: at}).Calls < at
				w.disk.PowerLoss(rand.New(rand.NewPCG(uint64(at), 1)))
				if again {
					seal(simfs.Fault{})
				}
				w.edit(simfs.Fault{})
				w.edit(simfs.Fault{})
				lines, found, err := w.record()
				want := 5
				for _, l := range lines {
					if l.Verb == audit.Sealed {
						want++
					}
				}
				if err != nil || found != nil || len(lines) != want {
					t.Fatalf("%s, killed at call %d, again: %v: %d lines, %v, %v", commit, at, again, len(lines),
						found, err)
				}
			}
		}
	}
}

// An edit may be killed before its commit is durable, and the power be cut in the next one, which
// makes the pending lines durable: the log has no line whose edit was undone.
func TestAuditKilledTwice(t *testing.T) {
	t.Parallel()
	for _, before := range []int{manyPending - 1, manyPending} {
		for first, more := 1, true; more; first++ {
			for second, goes := 1, true; goes; second += 2 {
				w := newAuditWorld("rename")
				for range before {
					w.edit(simfs.Fault{})
				}
				p, _ := w.edit(simfs.Fault{At: first})
				more = p.Calls >= first
				p, _ = w.edit(simfs.Fault{At: second})
				goes = p.Calls >= second
				w.disk.PowerLoss(rand.New(rand.NewPCG(uint64(first), uint64(second))))
				if err := w.check(); err != nil {
					t.Fatalf("killed at call %d, then at %d: %v", first, second, err)
				}
			}
		}
	}
}
