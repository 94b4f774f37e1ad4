package answer

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// The beginning of an id means an open question only if no other one begins so that is open or has
// ended lately: who has the beginning of an id that is over gives no yes to another one.
func TestFind(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	at := now.Add(-8 * 24 * time.Hour)
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{},
		fileops.Options{Observe: func() observe.Observation { return observe.Observation{Now: at} }})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{ledger: l, queue: "ask"}
	edit := func(verb func(queue.Queue, queue.Seen) (queue.Queue, error)) queue.Queue {
		t.Helper()
		edit, err := l.EditQueue("ask", fileops.OrCreate, verb)
		if err != nil {
			t.Fatal(err)
		}
		return edit.After
	}
	ask := func(id string, rule bool) queue.Queue {
		return edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			asked := queue.Question{ID: id, Nonce: strings.Repeat("0", 32), Kind: queue.AskPermission,
				Spec: "{}", Asker: queue.Asker{Participant: id}}
			if rule {
				asked.Ruled, asked.RuledEnd = &queue.Rule{File: "/r", Hash: asked.Spec.Hash(), Number: 1},
					queue.EndedAllowed
			}
			after, _, err := q.Ask(asked, seen)
			return after, err
		})
	}
	over := func(id string) {
		ask(id, false)
		edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Cancel([]string{id}, "ada", "", seen)
		})
	}

	over("qlongagoaaa")
	for i := range 30 { // so many that the file of the queue forgets the first ones
		over(fmt.Sprint("filler", i))
	}
	at = now
	over("qlatelyaaaa")
	ask("qlatelybbbb", false)
	ask("qlongagobbb", false)
	ask("qruledaaaaa", true)
	ask("qruledbbbbb", false)
	ask("qtwoopenaaa", false)
	q := ask("qtwoopenbbb", false)

	for id, want := range map[string]string{
		"qlonga": "qlongagobbb", "qrule": "qruledbbbbb", "qlatelyb": "qlatelybbbb", "qtwoopenb": "qtwoopenbbb",
		"qlate": "", "qtwoopen": "", // may be two
		"qlon": "qlon", "qlatelyaaaa": "qlatelyaaaa", "qlongagoaaa": "qlongagoaaa", "qnone": "qnone",
		"ask-1": "ask-1", "qlatelybbb1": "qlatelybbb1",
	} {
		got, err := d.find(q, id, now)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: got %q, %v, want %q", id, got, err, want)
		}
	}
}

// A text that means two of the choices, which other programs may have written, means none.
func TestChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choices []string
		text    string
		want    string // "": none
	}{
		{[]string{"test", "prod"}, "prod", "prod"},
		{[]string{"test", "prod"}, "2", "prod"},
		{[]string{"test", "prod"}, "0", ""},
		{[]string{"test", "prod"}, "3", ""},
		{[]string{"test", "prod"}, "pro", ""},
		{[]string{"2", "1"}, "1", ""},
		{[]string{"2", "1"}, "2", ""},
		{[]string{"2", "x"}, "1", "2"},
		{[]string{"1", "2"}, "2", "2"},
		{[]string{"8080", "9090"}, "9090", "9090"},
	} {
		got, ok := choice(c.choices, c.text)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q of %q: got %q, %t, want %q", c.text, c.choices, got, ok, c.want)
		}
	}
}
