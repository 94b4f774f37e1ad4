package queue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// What is derived from a queue, besides its holds.

var noon = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

func at(seconds int) Seen {
	return Seen{Observation: observe.Observation{Now: noon.Add(time.Duration(seconds) * time.Second)}}
}

// added returns a queue with tasks, which are added at noon.
func added(t *testing.T, tasks ...New) Queue {
	t.Helper()
	for i := range tasks {
		tasks[i].Spec = "{}"
	}
	q, err := Create("q").Enqueue(tasks, at(0))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestMine(t *testing.T) {
	q, task, err := added(t, New{ID: "a"}).Claim(Claimer{Participant: "w", Operation: "o"}, "", at(0))
	if err != nil || task == nil {
		t.Fatal(err)
	}
	stopped, err := q.Cancel([]string{"a"}, "ada", "", at(0))
	if err != nil {
		t.Fatal(err)
	}
	settled, err := q.Settle(Settlement{Task: "a", Epoch: 1, Outcome: Outcome{End: Done}}, at(0))
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name  string
		q     Queue
		task  string
		epoch int64
		want  error
	}{
		{"current", q, "a", 1, nil},
		{"other epoch", q, "a", 2, ErrLost},
		{"to be stopped", stopped, "a", 1, ErrLost},
		{"settled", settled, "a", 1, ErrLost},
		{"unknown", q, "b", 1, ErrNoTask},
	} {
		if err := c.q.Mine(c.task, c.epoch, at(0)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// The next task that only waits for its time counts, and no other.
func TestDueIn(t *testing.T) {
	q := added(t, New{ID: "a", Delay: 9 * time.Second},
		New{ID: "b", NotBefore: noon.Add(7 * time.Second), Delay: 5 * time.Second},
		New{ID: "c", Delay: time.Second, After: []string{"a"}})
	if d, any := q.DueIn(at(1)); !any || d != 6*time.Second {
		t.Errorf("due in %v, %t", d, any)
	}
	if d, any := q.DueIn(at(9)); any {
		t.Errorf("due in %v, although nothing waits for its time alone", d)
	}
}

func TestProcesses(t *testing.T) {
	p, k := observe.Process{PID: 1, BootID: "b"}, observe.Process{PID: 2, BootID: "b"}
	q := added(t, New{ID: "a"}, New{ID: "b"}, New{ID: "c"})
	for i, c := range []Claimer{{PID: 1, Process: p, Keeper: k}, {PID: 3, Process: p}, {Keeper: k}} {
		c.Participant = string(rune('x' + i))
		var err error
		if q, _, err = q.Claim(c, "", at(0)); err != nil {
			t.Fatal(err)
		}
	}
	if got := q.Processes(); !slices.Equal(got, []observe.Process{p, k}) {
		t.Errorf("got %v", got)
	}
}

// An error of one task of several names it.
func TestEntryError(t *testing.T) {
	_, err := added(t).Enqueue([]New{{ID: "a", Spec: "{}", After: []string{"z"}}}, at(0))
	if want := `task "a": there is no such task to wait for: "z"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWriteTo(t *testing.T) {
	var text strings.Builder
	q := added(t, New{ID: "a"})
	if n, err := q.WriteTo(&text); err != nil || text.String() != q.Encode() || int(n) != text.Len() {
		t.Errorf("%d, %v: %s", n, err, text.String())
	}
}

func TestContent(t *testing.T) {
	long := Content(`{"text":"` + strings.Repeat("x", 400) + `"}`)
	q, err := Create("q").Enqueue([]New{{ID: "a", Spec: `{"n":1}`}, {ID: "b", Spec: long}}, at(0))
	if err != nil {
		t.Fatal(err)
	}
	if spec, hash, inline := q.Task("a").Content(); spec != `{"n":1}` || hash != "" || !inline {
		t.Errorf("%q, %q, %t", spec, hash, inline)
	}
	if spec, hash, inline := q.Task("b").Content(); spec != "" || hash != long.Hash() || inline {
		t.Errorf("%q, %q, %t", spec, hash, inline)
	}
}
