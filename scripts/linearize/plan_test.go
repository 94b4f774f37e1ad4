package linearize

import (
	"fmt"
	"math/rand/v2"
)

// A step is a planned command on the current operation. Acks follow the heartbeats that report a
// crash, and a refused worker gives up. Everything else in a plan is decided by its seed.
type step struct {
	command
	all  bool    // of a cleanup: all operations
	pass int64   // milliseconds that pass before
	kill float64 // when to kill it, as a part of its usual time; 0: never
}

// A planner plans what one of the workers does.
type planner struct {
	rng             *rand.Rand
	worker, workers int
	next            []step
}

func plan(seed uint64, worker, workers int) *planner {
	return &planner{rng: rand.New(rand.NewPCG(seed, uint64(worker))), worker: worker,
		workers: workers}
}

func (p *planner) chance(percent float64) bool { return p.rng.Float64()*100 < percent }

// step returns the next step.
func (p *planner) step() step {
	for len(p.next) == 0 {
		p.next = p.episode()
	}
	s := p.next[0]
	p.next = p.next[1:]
	p.draw(&s)
	return s
}

// ack returns an ack of a call.
func (p *planner) ack(supervisor, call string) step {
	s := step{command: command{verb: "ack", supervisor: supervisor, call: call}}
	p.draw(&s)
	return s
}

// giveUp usually leaves out what was planned after a refused command.
func (p *planner) giveUp() {
	if p.chance(90) {
		p.next = nil
	}
}

// draw draws how much time passes before s, and when it would be killed.
func (p *planner) draw(s *step) {
	// A worker that sends a heartbeat with one of five commands or more is not stale before ten
	// times as many commands as there are workers.
	s.pass = int64(threshold / 10 / p.workers)
	if p.chance(0.5) {
		s.pass = int64(threshold * p.rng.Float64())
	}
	if s.kill = p.rng.Float64(); p.chance(50) {
		s.kill = 1 + (s.kill-0.5)/2
	}
}

// episode returns what a participant, supervisor, janitor or onlooker does in a row.
func (p *planner) episode() []step {
	someone, supervisor := p.rng.IntN(p.workers), fmt.Sprint("s", p.rng.IntN(3))
	switch n := p.rng.Float64() * 100; {
	case n < 55:
		return p.call()
	case n < 75:
		return []step{{command: command{verb: "heartbeat", supervisor: supervisor}}}
	case n < 86:
		return []step{{command: command{verb: "cleanup"}, all: p.chance(30)}}
	case n < 92:
		return []step{{command: command{verb: "pop", call: p.id(someone), keepOpen: p.chance(50)}}}
	case n < 99.6:
		return []step{{command: command{verb: "status"}}}
	}

	return []step{{command: command{verb: "abort"}}}
}

// id returns one of the three calls of a worker.
func (p *planner) id(worker int) string { return fmt.Sprintf("c%d-%d", worker, p.rng.IntN(3)) }

// call returns a call from its push to its pop, which it sometimes forgets.
func (p *planner) call() []step {
	call := p.id(p.worker)
	participant := "of-" + call
	push := command{verb: "push", call: call, participant: participant, contained: p.chance(85)}
	if p.chance(70) {
		push.supervisor = fmt.Sprint("s", p.rng.IntN(3))
		push.keep = p.chance(20)
	}

	steps := []step{{command: push}}
	for range p.rng.IntN(4) {
		beat := command{verb: "heartbeat", call: call, cleaning: p.chance(5)}
		if p.chance(50) {
			beat.call, beat.participant = "", participant
		}
		steps = append(steps, step{command: beat})
	}

	if p.chance(80) {
		pop := command{verb: "pop", call: call, fail: p.chance(2), keepOpen: p.chance(50)}
		steps = append(steps, step{command: pop})
	}

	return steps
}
