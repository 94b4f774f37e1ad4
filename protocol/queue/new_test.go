package queue

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Tasks may be written as lines, as one array, and with the names that other tools use.
func TestDecodeRequests(t *testing.T) {
	t.Parallel()
	all, err := DecodeRequests(`
{"taskId": "a", "argv": ["make", "a"], "dir": "/src", "timeoutMs": 5000, "priority": -3}
{"key": "https://example.org", "after": ["a"], "group": "g", "text": "Look.", "maxAttempts": 4,
 "notBefore": "2026-01-20T12:00:00.000Z", "delayMs": 100, "expiresMs": 200}

{"task_id": "c", "working_directory": "/src", "retry_policy": {"max_retries": 2, "on": "error"},
 "softTimeoutMs": 1, "killAfterMs": 2, "mine": {"n": 1}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{New: New{ID: "a", Priority: -3},
			Spec: Spec{Argv: []string{"make", "a"}, Dir: "/src", Timeout: 5 * time.Second}},
		{New: New{Key: "https://example.org", After: []string{"a"}, Group: "g", MaxAttempts: 4,
			NotBefore: noon, Delay: 100 * time.Millisecond, Expires: 200 * time.Millisecond},
			Spec: Spec{Text: "Look."}},
		{New: New{ID: "c", MaxAttempts: 3},
			Spec: Spec{Dir: "/src", SoftTimeout: time.Millisecond, KillAfter: 2 * time.Millisecond}},
	}
	if len(all) != len(want) || len(all[2].Spec.Unknown) != 1 {
		t.Fatalf("got %+v", all)
	}
	for i, r := range all {
		// What nobody here knows is part of the spec.
		content, err := DecodeSpec(r.Spec.Content())
		if err != nil || content.Content() != r.Spec.Content() {
			t.Errorf("the spec of task %d: %v, %s", i+1, err, r.Spec.Content())
		}
		r.Spec.Unknown = nil
		if !reflect.DeepEqual(r, want[i]) {
			t.Errorf("task %d: %+v, want %+v", i+1, r, want[i])
		}
	}
	if spec := string(all[2].Spec.Content()); !strings.Contains(spec, `"mine":{"n":1}`) {
		t.Errorf("the spec of c: %s", spec)
	}

	for text, ids := range map[string]string{
		"":                                   "[]",
		" \n ":                               "[]",
		"[]":                                 "[]",
		`[{"taskId": "a"}, {"taskId": "b"}]`: "[a b]",
		`{"taskId": "a"}{"taskId": "b"}`:     "[a b]",
	} {
		all, err := DecodeRequests(text)
		got := []string{}
		for _, r := range all {
			got = append(got, r.ID)
		}
		if fmt.Sprint(got) != ids || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestDecodeBadRequests(t *testing.T) {
	t.Parallel()
	least, most := Priorities()
	for text, want := range map[string]string{
		`{"taskId": "a"`:                         "task 1: ",
		`{} {`:                                   "task 2: ",
		`[{}, {}`:                                "task 3: ",
		`[{}] {}`:                                "data after the end of the array",
		`[{}, 7]`:                                "task 2: ",
		`{"taskId": "../x"}`:                     "task 1: ",
		`{"taskId": ""}`:                         "task 1: ",
		`{"timeoutMs": -1}`:                      "task 1: ",
		`{"maxAttempts": 0}`:                     "task 1: ",
		`{"argv": "make"}`:                       "task 1: ",
		`{"retry_policy": 3}`:                    "task 1: ",
		fmt.Sprintf(`{"priority": %d}`, most+1):  fmt.Sprintf("at most %d", most),
		fmt.Sprintf(`{"priority": %d}`, least-1): "task 1: ",
	} {
		_, err := DecodeRequests(text)
		if !errors.Is(err, wire.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

// A task with a key has the same id wherever it is added.
func TestIDOf(t *testing.T) {
	t.Parallel()
	if got, want := IDOf("https://example.org"), "k50d7a905e3046b88638362cc"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
