package queues

import (
	"fmt"
	"slices"
	"strings"
)

// The model of a queue without backoff, delays and operations. It is written from spec §34 to §37
// and shares no code with package queue.

// A request is what one command asks.
type request struct {
	verb   string // enqueue, claim, settle, again, cancel, or die: the death of a claimer
	tasks  string // ids, separated by spaces; of a claim at most one
	group  string // of all tasks of enqueue
	rank   int64  // priority, likewise
	epoch  int64
	end    string
	holder int // who claims or dies
	host   int // where
}

// An answer is what a command says. A command that was refused, or has found nothing, only has a
// status.
type answer struct {
	status   int
	revision int64 // 0: not told
	task     string
	epoch    int64
}

// A model is the state of a queue. It is a value: what its members refer to is never changed.
type model struct {
	revision, lastEpoch int64
	tasks               []modelTask // in their order, also those that have ended
	dead                string      // holders, each between spaces
}

type modelTask struct {
	id, group      string
	rank           int64
	state          string // waiting, claimed, blocked, dead, done or cancelled
	holder, host   int
	epoch          int64 // of the claim
	lastEpoch      int64
	lastEnd        string
	judged         bool
	tries, charged int
}

// maxAttempts is that of the queue.
const maxAttempts = 3

func (t modelTask) over() bool { return t.state == "done" || t.state == "cancelled" }

func (m model) equal(o model) bool {
	return m.revision == o.revision && m.lastEpoch == o.lastEpoch && m.dead == o.dead &&
		slices.Equal(m.tasks, o.tasks)
}

func (m model) index(id string) int {
	return slices.IndexFunc(m.tasks, func(t modelTask) bool { return t.id == id })
}

func (m model) isDead(holder int) bool { return strings.Contains(m.dead, fmt.Sprintf(" %d ", holder)) }

// do returns the queue after r, and what r says.
func (m model) do(r request) (model, answer) {
	if r.verb == "die" {
		m.dead += fmt.Sprintf(" %d ", r.holder)
		return m, answer{}
	}

	after := m
	after.tasks = slices.Clone(m.tasks)
	a := answer{}
	switch r.verb {
	case "settle":
		a = after.settle(r)
	case "claim":
		after.pass(r.host)
		a = after.claim(r)
	case "enqueue":
		after.pass(r.host)
		a = after.enqueue(r)
	case "again":
		after.pass(r.host)
		a = after.again(r)
	case "cancel":
		after.pass(r.host)
		a = after.cancel(r)
	}

	if a.status > 1 {
		return m, a
	}
	if !slices.Equal(after.tasks, m.tasks) {
		after.revision++
	}
	if r.verb != "claim" {
		a.revision = after.revision
	}
	return after, a
}

// pass is spec §35.2: the claims of the dead end. Nothing is known of those of another host.
func (m *model) pass(host int) {
	for i := range m.tasks {
		if t := &m.tasks[i]; t.state == "claimed" && t.host == host && m.isDead(t.holder) {
			t.end("crashed", true)
		}
	}
}

// end is the table of spec §35.3.
func (t *modelTask) end(end string, judged bool) {
	t.lastEpoch, t.lastEnd, t.judged = t.epoch, end, judged
	t.epoch, t.holder, t.host = 0, 0, 0
	switch end {
	case "done", "cancelled":
		t.state = end
		return
	case "blocked":
		t.state = end
		return
	case "failed", "crashed":
		t.charged++
	}
	t.state = "waiting"
	if t.charged >= maxAttempts || t.tries >= 5*maxAttempts {
		t.state = "dead"
	}
}

// settle is spec §35.3, and §35.8 for the end unclaimed.
func (m *model) settle(r request) answer {
	i := m.index(r.tasks)
	if i < 0 {
		return answer{status: 66}
	}
	t := &m.tasks[i]
	switch {
	case t.state == "claimed" && t.epoch == r.epoch && r.end == "unclaimed":
		t.state, t.epoch, t.holder, t.host = "waiting", 0, 0, 0
		t.tries--
		m.pass(r.host)
		return answer{}
	case r.end == "unclaimed":
		return answer{status: 5}
	case t.state == "claimed" && t.epoch == r.epoch:
		t.end(r.end, false)
		m.pass(r.host)
		return answer{}
	case t.lastEpoch != r.epoch || t.lastEpoch == 0 || t.judged:
		return answer{status: 5}
	case t.lastEnd != r.end:
		return answer{status: 76}
	}
	return answer{}
}

// claim is spec §35.1.
func (m *model) claim(r request) answer {
	for _, t := range m.tasks {
		if t.state == "claimed" && t.holder == r.holder {
			return answer{status: 76}
		}
	}

	best := -1
	for i, t := range m.tasks {
		if m.ready(i) && (best < 0 || t.rank < m.tasks[best].rank) && (r.tasks == "" || t.id == r.tasks) {
			best = i
		}
	}
	switch {
	case best >= 0:
	case r.tasks == "":
		return answer{status: 1}
	case m.index(r.tasks) < 0:
		return answer{status: 66}
	default:
		return answer{status: 76}
	}

	m.lastEpoch++
	t := &m.tasks[best]
	t.state, t.epoch, t.holder, t.host = "claimed", m.lastEpoch, r.holder, r.host
	t.tries++
	return answer{task: t.id, epoch: t.epoch}
}

// ready is spec §34.2.
func (m *model) ready(i int) bool {
	t := m.tasks[i]
	if t.state != "waiting" {
		return false
	}
	for j, other := range m.tasks {
		if t.group != "" && i != j && other.group == t.group && !other.over() &&
			(other.state == "claimed" || j < i) {
			return false
		}
	}
	return true
}

// enqueue is spec §34.1, with the same spec for a task each time.
func (m *model) enqueue(r request) answer {
	for _, id := range strings.Fields(r.tasks) {
		if m.index(id) < 0 {
			m.tasks = append(m.tasks, modelTask{id: id, group: r.group, rank: r.rank, state: "waiting"})
		}
	}
	return answer{}
}

// again is spec §37.3.
func (m *model) again(r request) answer {
	i := m.index(r.tasks)
	if i < 0 {
		return answer{status: 66}
	}
	t := &m.tasks[i]
	if t.state != "dead" && t.state != "blocked" {
		return answer{status: 76}
	}
	t.state, t.tries, t.charged = "waiting", 0, 0
	return answer{}
}

// cancel is spec §37.4.
func (m *model) cancel(r request) answer {
	i := m.index(r.tasks)
	if i < 0 {
		return answer{status: 66}
	}
	t := &m.tasks[i]
	switch t.state {
	case "cancelled":
	case "done":
		return answer{status: 76}
	case "claimed":
		t.end("cancelled", true)
	default:
		t.state = "cancelled"
	}
	return answer{}
}
