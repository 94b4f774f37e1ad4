package queue

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// machine is a queue in a world: it makes verbs, lets processes die and clocks be set between them,
// and knows the truth about each task and attempt.
type machine struct {
	q     Queue
	w     *world
	tasks map[string]*truth
	// attempts by their epoch; their number is the highest
	attempts map[int64]*attempt
	past     map[string]Remembered // the file of ended tasks
	alerted  map[int64]bool        // epochs whose tasks are dead, which was told
	made     int                   // tasks with a new id
}

// truth is what has happened to a task.
type truth struct {
	spec     Content
	seq      int64
	claims   int      // ever
	tries    int64    // since the last redrive, without those that were snoozed
	most     int64    // the most failures that it was ever allowed
	claimed  *attempt // by whom; nil: by nobody
	last     *attempt // that was settled; nil: none was
	dueBoot  int      // the boot in which it waits for a delay
	due      int64    // until when, on the monotonic clock of that boot
	redriven bool     // in this verb
}

// attempt is the truth about a claim.
type attempt struct {
	claimer
	epoch   int64
	said    End // how it was settled by itself; "": it was not
	ended   End // what became of that
	boot    int
	mono    int64 // when it was made
	wall    time.Time
	blind   bool // its maker had no monotonic clock
	intends *Outcome
}

// A verb is an edit that a machine makes.
type verb struct {
	name   string
	at     place
	do     func(q Queue, seen Seen) (Queue, error)
	repeat bool            // doing it again changes nothing
	ends   map[string]bool // the tasks whose attempts it may end
	said   End             // of settle
	claims *claimer        // of claim
	named  string          // the task that it claims, if it is named
	undone string          // the task whose claim it takes back
}

// TestMachine compares a queue with a model of what really happens to its tasks and attempts (spec
// §33 to §37): no task is lost or done by two at a time, no attempt of a living process is ended by
// others, and every other one is, by the first observer that can know. It makes the same histories
// each time; -rapid.seed and -rapid.checks make others and more.
func TestMachine(t *testing.T) {
	fixHistories(t)
	rapid.Check(t, func(r *rapid.T) {
		m := newMachine(r)
		r.Repeat(map[string]func(*rapid.T){
			"enqueue": m.enqueue, "enqueue more": m.enqueue, "claim": m.claim,
			"claim more": m.claim, "claim again": m.claim, "settle": m.settle,
			"settle more": m.settle, "settle again": m.settle, "pass": m.pass, "unclaim": m.unclaim,
			"control": m.control, "redrive": m.redrive, "cancel": m.cancel,
			"alert": m.alert,
			"exit":  m.exit, "pass time": m.passTime, "set the clock": m.setClock,
			"reboot": m.reboot, "end a call": m.endCall,
		})
	})
}

// fixHistories has rapid make the same histories each time, unless its flags are given.
func fixHistories(t *testing.T) {
	given := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "200",
		"rapid.steps": "80", "rapid.nofailfile": "true"} {
		if !given[name] {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func newMachine(t *rapid.T) *machine {
	m := &machine{w: newWorld(), tasks: make(map[string]*truth),
		attempts: make(map[int64]*attempt), past: make(map[string]Remembered),
		alerted: make(map[int64]bool)}
	m.q = Create("q")
	p := &m.q.Policy
	p.Slots = one[int64](t, "slots", 0, 1, 2, 3)
	p.MaxAttempts = one[int64](t, "maxAttempts", 1, 2, 3)
	p.Backoff = one(t, "backoff", nil, []time.Duration{0, time.Second},
		[]time.Duration{2 * time.Second})
	p.OnDeadDependency = one(t, "onDeadDependency", DependencyWait, DependencyCancel)
	p.AgeAfter = one(t, "ageAfter", 0, 0, time.Second)
	p.HaltOn = one(t, "haltOn", nil, nil, []HaltRule{{"dead", 2}, {"failures", 3}})

	for range one(t, "done before", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 63) {
		n := m.fresh()
		m.tasks[n.ID] = &truth{spec: n.Spec}
		m.q.Ended = append(m.q.Ended, Ended{ID: n.ID, End: EndedDone, Spec: n.Spec.Hash(),
			Last: Attempt{End: Done}, At: m.w.wall})
		m.q.Counters.Done++
	}
	return m
}

// try makes v, and checks what it did. It reports whether that was an edit.
func (m *machine) try(t *rapid.T, v *verb) bool {
	before, seen := m.q, m.seen(v.at)
	text := before.Encode()
	after, err := v.do(before, seen)
	t.Logf("%s %v at %s, %d ms: %v", v.name, v.at, m.w.wall.Format("15:04:05.000"), m.w.mono, err)

	if before.Encode() != text {
		t.Fatalf("%s has changed what it was given:\n%s\nwas:\n%s", v.name, before.Encode(), text)
	}
	if err != nil {
		if after.Encode() != text || !slices.Equal(after.Tasks, before.Tasks) {
			t.Fatalf("refused, but changed:\n%s\nwas:\n%s", after.Encode(), text)
		}
		return false
	}

	if after.Revision == before.Revision {
		if after.Encode() != text {
			t.Fatalf("the revision did not grow:\n%s\nwas:\n%s", after.Encode(), text)
		}
	} else if after.Revision != before.Revision+1 {
		t.Fatalf("revision %d follows %d", after.Revision, before.Revision)
	}

	m.remember(t, after)
	m.checkRepeated(t, v, after, seen)
	m.checkAttempts(t, v, before, after)
	m.checkAccounts(t, v, before, after)
	m.checkHolds(t, after, seen)
	m.q = m.checkFile(t, after)
	if one(t, "in memory", 0, 0, 0, 1) == 1 {
		m.q = after
	}
	return after.Revision != before.Revision
}

// remember keeps what after asks to be kept outside its file.
func (m *machine) remember(t *rapid.T, after Queue) {
	for _, r := range after.Effects().Remember {
		if r.Seq != int64(len(m.past))+1 {
			t.Fatalf("%s has the number %d after %d", r.ID, r.Seq, len(m.past))
		}
		m.past[r.ID] = r
	}
}

// known returns the ids of all tasks that were ever added, in a fixed order.
func (m *machine) known() []string { return slices.Sorted(maps.Keys(m.tasks)) }

// note notes that n was added, unless its task was there before.
func (m *machine) note(n New) {
	task := m.q.Task(n.ID)
	if m.tasks[n.ID] == nil {
		m.tasks[n.ID] = &truth{spec: n.Spec}
		if task != nil {
			m.tasks[n.ID].seq = task.Seq
		}
	}
	if task != nil {
		m.tasks[n.ID].most = max(m.tasks[n.ID].most, m.q.maxAttempts(task))
	}
}
