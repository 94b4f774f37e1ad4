package linearize

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A size is the size of a history: workers make edits until they have made that many together.
type size struct{ workers, edits int }

// A history is what workers did, by operation.
type history struct {
	mode   mode
	shell  shell
	seed   uint64
	events map[string][]porcupine.Operation // Input is a command, Output an answer
	errs   []error                          // of commands that said what no command says
	took   time.Duration
	judged time.Duration // time it took to judge it

	processes, deaths atomic.Int64
	found             int // killed commands that said nothing and have made an edit
}

// A recorder records a history.
type recorder struct {
	history
	size    size
	started time.Time
	clock   atomic.Int64     // the time of the commands, in milliseconds
	current atomic.Int64     // number of the operation that the commands are on
	edits   atomic.Int64     // acknowledged
	usual   map[string]int64 // nanoseconds that a verb takes, about

	mu sync.Mutex // guards events, errs and usual
}

// record runs workers on one operation after the other, in a ledger of its own.
func record(t *testing.T, bin string, m mode, size size, seed uint64) *history {
	t.Helper()
	r := &recorder{size: size, started: time.Now(), usual: map[string]int64{}}
	r.mode, r.shell, r.seed, r.events = m, shell{bin,
		filepath.Join(t.TempDir(), "ledger")}, seed, map[string][]porcupine.Operation{}
	r.clock.Store(begin)
	r.do(0, step{command: command{verb: "push", call: "first", participant: "nobody",
		contained: true, create: m.create}})
	var workers sync.WaitGroup
	for w := range size.workers {
		workers.Go(func() { r.work(w+1, plan(seed, w, size.workers)) })
	}

	workers.Wait()
	r.end()
	r.took = time.Since(r.started)

	return &r.history
}

// look makes a status that is not killed.
func (r *recorder) look(client int, op string) answer {
	return r.on(client, step{command: command{verb: "status"}}, op)
}

func operationID(i int64) string { return fmt.Sprint("op-", i) }

func (r *recorder) work(client int, p *planner) {
	for r.edits.Load() < int64(r.size.edits) && !r.failed() {
		s := p.step()
		a := r.do(client, s)
		if a.status >= 64 {
			p.giveUp()
		}
		if s.verb != "heartbeat" {
			continue
		}

		for _, call := range a.reported() {
			r.do(client, p.ack(s.supervisor, call))
		}
	}
}

func (r *recorder) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errs) > 0
}

// do makes s on the operation of the moment.
func (r *recorder) do(client int, s step) answer {
	op := operationID(r.current.Load())
	if s.all {
		op = ""
	}
	return r.on(client, s, op)
}

// on does s on an operation, or on all if op is "", and then leaves out the answer. After a command
// that was killed and said nothing, it looks what that has done, before other commands hide it.
func (r *recorder) on(client int, s step, op string) answer {
	current := r.current.Load()
	s.op, s.now = op, r.clock.Add(s.pass)
	called := time.Since(r.started)
	status, stdout, stderr, err := r.run(s)
	returned := time.Since(r.started)
	if err != nil {
		r.fail(err)
		return answer{}
	}

	e := porcupine.Operation{ClientId: client, Input: s.command, Call: int64(called),
		Return: int64(returned)}
	if status == killed {
		e.Metadata = "killed"
	}

	all, err := answers(s.command, status, stdout, stderr)
	if err != nil {
		r.fail(err)
	}

	said := all[op]
	if said.silent && op == "" {
		delete(all, "")
		for i := range current + 1 {
			all[operationID(i)] = answer{silent: true}
		}
	}

	for id, a := range all {
		e.Output = a
		r.note(e, id)
	}

	if said.silent {
		r.look(client, operationID(current))
	}

	return said
}

// run runs s, and returns its exit status and output. It kills one in eight processes, which is a
// bit more than one in ten, because some must not be killed.
func (r *recorder) run(s step) (status int, stdout, stderr []byte, err error) {
	processes := r.processes.Add(1)
	mortal := s.kill > 0 && r.deaths.Load()*8 < processes
	r.mu.Lock()
	usual := r.usual[s.verb]
	r.mu.Unlock()
	process, out, complaint, err := r.shell.start(s.command)
	if err != nil {
		return 0, nil, nil, err
	}

	began := time.Now()
	if mortal { // a timer would mostly come when the command, which takes some two milliseconds, has ended
		for moment := time.Duration(s.kill * float64(usual)); time.Since(began) < moment; {
			runtime.Gosched()
		}
		process.Process.Kill()
	}

	// Wait returns when all threads have ended, so that from then on the command does nothing.
	process.Wait()
	if status = process.ProcessState.ExitCode(); status == killed {
		r.deaths.Add(1)
	} else if !mortal {
		r.mu.Lock()
		r.usual[s.verb] = usual + (int64(time.Since(began))-usual)/8
		r.mu.Unlock()
	}

	return status, out.Bytes(), complaint.Bytes(), nil
}

func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// note records what a command said about the operation id, and goes on to the next operation if
// that is over.
func (r *recorder) note(e porcupine.Operation, id string) {
	c, a := e.Input.(command), e.Output.(answer)
	c.op, e.Input = id, c
	r.mu.Lock()
	defer r.mu.Unlock()

	r.events[id] = append(r.events[id], e)
	if a.changed {
		r.edits.Add(1)
	}
	if current := r.current.Load(); id == operationID(current) && a.over() {
		r.current.CompareAndSwap(current, current+1)
	}
}
