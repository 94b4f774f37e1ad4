package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
)

// world is one history: hosts, the disk they share, and their processes. It is reused for the next
// one.
type world struct {
	seed  uint64
	pcg   *rand.PCG
	r     *rand.Rand
	kind  kind
	bug   bug
	stats *stats
	print func(format string, args ...any) // nil: no output

	now   int64 // the true time in milliseconds
	disk  *simfs.Disk
	hosts []*host

	starts  int              // that were given an id
	started map[string]*proc // the process of each, by that id
	ended   []*proc          // whose keepers have yet to see it

	actors  []*actor
	running *actor
	ready   []*actor
	chosen  *actor
	idle    []*coroutine
	dying   []dying
	calm    bool // no more faults, and no other processes
	steps   int

	step      int // time that a call takes, at most
	hop       int // one in this many calls lets another process run
	faults    int // one command in so many has a fault
	faulted   bool
	powerLost bool
	rules     rules
	tree      bool                   // the group g is a service of the group root
	resumed   bool                   // somebody may have resumed it by hand
	endsTaken map[int64]bool         // the generations whose end the root has taken
	charged   map[string][]time.Time // the failures that were charged to each group
	asks      map[string]int64       // when each start was asked for a checkpoint
	setBack   int64                  // by how many milliseconds all clocks have been set back
	told      []string               // names of trash that commands have said is left behind
	eventAt   int                    // the step at which an event comes; 0: none

	operations map[string]*ledger
	groups     map[string]*registry
	beats      map[string]beat
	resources  map[string]bool // calls that have one; true: a crash may take it
	calls      int
	runs       int    // ids of runs and of starts that were given
	open       []open // calls of runners
	queued     queued
	wrong      error
}

// dying is a stage that will notice that its pass is gone.
type dying struct {
	at int64
	p  *proc
}

// actor is a program that runs. It is a coroutine, that is stopped at each system call.
type actor struct {
	w       *world
	name    string
	p       *proc
	stack   *coroutine
	wake    int64 // it sleeps until then
	waits   *simfs.Node
	until   int64 // how long it waits for that
	paused  int64 // since when, 0: not
	cmd     *command
	expired bool // its locks were lost in this pause
	dead    bool
	over    bool
	term    bool // it was sent TERM
	hangs   bool // it ends, and its process does not
	status  int  // that its process ends with
}

func newWorld(s *stats) *world {
	pcg := rand.NewPCG(0, 0)
	w := &world{pcg: pcg, r: rand.New(pcg), stats: s, disk: simfs.New()}
	w.disk.Now = func() time.Time { return epoch.Add(time.Duration(w.now) * time.Millisecond) }
	return w
}

// begin forgets everything.
func (w *world) begin(seed uint64, b bug) {
	w.seed, w.bug = seed, b
	w.pcg.Seed(seed, 5)
	w.disk.Reset()
	w.now, w.steps, w.calls, w.eventAt = 100_000, 0, 0, 0
	w.runs, w.open = 0, nil
	w.hosts, w.actors, w.dying, w.running, w.chosen = w.hosts[:0], w.actors[:0], w.dying[:0], nil, nil
	w.calm, w.faulted, w.powerLost, w.wrong = false, false, false, nil
	w.setBack, w.told = 0, nil
	w.started, w.ended = map[string]*proc{}, nil
	w.asks, w.rules, w.charged = map[string]int64{}, rules{}, map[string][]time.Time{}
	w.tree, w.resumed, w.endsTaken = false, false, map[int64]bool{}
	w.operations, w.groups = map[string]*ledger{}, map[string]*registry{}
	w.beats, w.resources = map[string]beat{}, map[string]bool{}
	w.queued = queued{working: map[string]*proc{}, done: map[string]int64{}, questions: newQuestions()}
}

func (w *world) chance(n int) bool { return w.r.IntN(n) == 0 }

// between returns a number from a to b.
func (w *world) between(a, b int) int { return a + w.r.IntN(b-a+1) }

// fail notes the first thing that is wrong.
func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

func (w *world) tell(format string, args ...any) {
	if w.print != nil {
		who := "-"
		if w.running != nil {
			who = w.running.name
		}
		w.print("%8d %-14s "+format, append([]any{w.now - 100_000, who}, args...)...)
	}
}

// start makes a program run as a process of its own.
func (w *world) start(name string, p *proc, program func(a *actor)) *actor {
	a := &actor{w: w, name: name, p: p, stack: w.coroutine()}
	p.program = a
	a.stack.program = func() {
		defer a.end()
		program(a)
	}
	w.actors = append(w.actors, a)
	return a
}

// gone is what a program panics with that was killed.
type gone struct{}

func (a *actor) end() {
	if cause := recover(); cause != nil && cause != (gone{}) {
		panic(cause)
	}
	a.over = true
	if !a.hangs && !a.dead {
		a.p.exits(a.status)
	}
}

// kill ends a program at once, and whatever command of it runs. It unwinds when it is its turn.
func (a *actor) kill() {
	if a.dead {
		return
	}

	a.dead = true
	a.p.kill()
	if a.cmd != nil {
		a.cmd.fs.Kill()
		a.cmd.orphan()
	}
}

// suspend lets others run.
func (a *actor) suspend() {
	a.stack.yield(struct{}{})
	a.check()
}

func (a *actor) check() {
	if a.dead && a.cmd == nil {
		panic(gone{})
	}
}

// sleep waits for about so many milliseconds.
func (a *actor) sleep(ms int) {
	a.w.pass()
	a.check()
	if a.w.calm {
		a.w.now += int64(ms)
		return
	}
	a.wake = a.w.now + int64(ms)
	a.suspend()
}

// called is where each system call begins: time passes, things happen, and others run.
func (a *actor) called() {
	w := a.w
	w.pass()
	if w.calm || a.dead {
		return
	}

	w.pause(a)
	if a.wake <= w.now && (w.hop > 1 && !w.chance(w.hop)) {
		return
	}
	if w.chosen = w.pick(); w.chosen != a {
		a.suspend()
	}

	w.chosen = nil
}

// wait waits for a lock, or long enough.
func (a *actor) wait(n *simfs.Node) bool {
	w := a.w
	if w.calm {
		w.fail("%s waits for a lock that nobody gives back", a.name)
		return false
	}

	w.did(didWait)
	a.waits, a.until = n, w.now+5000
	a.suspend()
	a.waits = nil
	if a.dead {
		return true
	}

	if n.Locked() {
		w.did(didTimeOut)
		return false
	}

	return true
}

// play runs all processes until they have ended.
func (w *world) play() {
	for w.wrong == nil {
		w.reap()
		w.startKeepers()
		a := w.chosen
		if a == nil || a.over || a.dead {
			a = w.pick()
		}

		w.chosen = nil
		if a == nil {
			break
		}

		w.resume(a)
	}

	w.reap()
}

func (w *world) resume(a *actor) {
	if a.paused > 0 {
		a.paused = 0
		w.tell("%s goes on", a.name)
	}

	w.running = a
	a.stack.next()
	w.running = nil
	if a.over {
		w.idle = append(w.idle, a.stack)
	}
}

// reap unwinds the programs that were killed, and forgets those that have ended.
func (w *world) reap() {
	kept := w.actors[:0]
	for _, a := range w.actors {
		if a.dead && !a.over {
			w.resume(a)
		}
		if !a.over {
			kept = append(kept, a)
		}
	}

	clear(w.actors[len(kept):])
	w.actors = kept
}

// pick chooses the process to run next, or nil if none ever will. If all sleep, time passes.
func (w *world) pick() *actor {
	for {
		w.ready = w.ready[:0]
		soonest := int64(-1)
		for _, a := range w.actors {
			at := a.readyAt()
			switch {
			case a.over:
			case a.dead, at <= w.now:
				w.ready = append(w.ready, a)
			case soonest < 0 || at < soonest:
				soonest = at
			}
		}

		if len(w.ready) > 0 {
			return w.ready[w.r.IntN(len(w.ready))]
		}
		if soonest < 0 {
			return nil
		}

		w.now = soonest
		w.expire()
	}
}

// readyAt returns when a can go on as things are.
func (a *actor) readyAt() int64 {
	if a.waits != nil && a.waits.Locked() {
		return max(a.until, a.wake)
	}
	return a.wake
}

// everybodyEnds ends what still runs.
func (w *world) everybodyEnds() {
	for _, a := range w.actors {
		a.kill()
	}
	w.reap()
}
