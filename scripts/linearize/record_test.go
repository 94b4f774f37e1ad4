package linearize

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A size is that of a history: workers make edits until there are that many, of all of them together.
type size struct{ workers, edits int }

// A history is what workers did, by operation.
type history struct {
	mode   mode
	shell  shell
	seed   uint64
	events map[string][]porcupine.Operation // Input is a command, Output an answer
	last   int                              // number of the last operation
	errs   []error                          // of commands that said what no command says
	took   time.Duration
}

// A recorder records a history.
type recorder struct {
	history
	size    size
	started time.Time
	clock   atomic.Int64 // the time of the commands, in milliseconds
	current atomic.Int64 // number of the operation that the commands are on
	edits   atomic.Int64 // acknowledged
	usual   atomic.Int64 // nanoseconds that a command takes, about

	mu sync.Mutex // guards events and errs
}

// record runs workers on one operation after the other, in a ledger of its own.
func record(t *testing.T, bin string, m mode, size size, seed uint64) *history {
	t.Helper()
	r := &recorder{size: size, started: time.Now()}
	r.mode, r.shell, r.seed, r.events = m, shell{bin, filepath.Join(t.TempDir(), "ledger")}, seed, map[string][]porcupine.Operation{}
	r.clock.Store(begin)
	r.do(0, step{command: command{verb: "push", call: "first", participant: "nobody", contained: true, create: m.create}})
	var workers sync.WaitGroup
	for w := range size.workers {
		workers.Go(func() { r.work(w+1, plan(seed, w, size.workers)) })
	}
	workers.Wait()
	r.took = time.Since(r.started)
	r.last = int(r.current.Load())
	r.do(0, step{command: command{verb: "cleanup"}, all: true}) // it tidies up after those that were killed
	for i := range r.last + 1 {
		r.on(0, step{command: command{verb: "status"}}, operationID(i))
	}
	return &r.history
}

func operationID(i int) string { return fmt.Sprint("op-", i) }

func (r *recorder) work(client int, p *planner) {
	var reported []string
	for int(r.edits.Load()) < r.size.edits && !r.failed() {
		s := p.step()
		if s.verb != "ack" {
			reported = r.do(client, s)
			continue
		}
		for _, call := range reported {
			s.call = call
			r.do(client, s)
		}
	}
}

func (r *recorder) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errs) > 0
}

// do makes s on the operation of the moment. It returns the crashed calls that were reported.
func (r *recorder) do(client int, s step) []string {
	op := operationID(int(r.current.Load()))
	if s.all {
		op = ""
	}
	return r.on(client, s, op)
}

// on is do on an operation, or on all if op is "".
func (r *recorder) on(client int, s step, op string) (reported []string) {
	s.op, s.now = op, r.clock.Add(s.pass)
	called := time.Since(r.started)
	process, stdout, stderr, err := r.shell.start(s.command)
	if err != nil {
		r.fail(err)
		return nil
	}
	if s.kill > 0 {
		after := time.Duration(s.kill * float64(r.usual.Load()))
		defer time.AfterFunc(after, func() { process.Process.Kill() }).Stop()
	}
	// Wait returns when all threads have ended, so that from then on the command does nothing.
	process.Wait()
	returned := time.Since(r.started)
	if s.kill == 0 {
		usual := r.usual.Load()
		r.usual.Store(usual + (int64(returned-called)-usual)/8)
	}
	var died any
	if process.ProcessState.ExitCode() == killed {
		died = "killed"
	}
	all, err := answers(s.command, process.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
	if err != nil {
		r.fail(err)
	}
	if unknown := all[""]; unknown.silent { // a cleanup of all operations
		delete(all, "")
		for i := range r.current.Load() + 1 {
			all[operationID(int(i))] = unknown
		}
	}
	for id, a := range all {
		r.note(porcupine.Operation{
			ClientId: client, Input: s.command, Call: int64(called), Output: a, Return: int64(returned), Metadata: died,
		}, id)
		reported = append(reported, a.reported()...)
	}
	return reported
}

func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// note keeps what a command said of the operation id, and goes on to the next operation if that is over.
func (r *recorder) note(e porcupine.Operation, id string) {
	c, a := e.Input.(command), e.Output.(answer)
	c.op, e.Input = id, c
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events[id] = append(r.events[id], e)
	if a.changed {
		r.edits.Add(1)
	}
	if current := r.current.Load(); id == operationID(int(current)) && a.over() {
		r.current.CompareAndSwap(current, current+1)
	}
}
