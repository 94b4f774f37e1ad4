package queue

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A spec is taken from the file as it is only if it has no white space between its tokens.
func TestIsCompact(t *testing.T) {
	for _, text := range []string{
		`{}`, `{ }`, `{"argv":["sh","-c","a b"]}`, `{"argv":["a", "b"]}`, "{\n}", "{\t}", "{}",
		`{"a":"\" "}`, `{"a":"\\" }`, `{"a":"\\\" "}`, `{"a":1 ,"b":2}`, `{"\"":" ","b":"\\"}`,
	} {
		compact := jsontext.Value(text)
		if err := compact.Compact(); err != nil {
			t.Fatal(err)
		}
		if got, want := isCompact(text), string(compact) == text; got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// A command is refused that no worker can run.
func TestCanRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Text: "x"}, ""},
		{Spec{Argv: []string{"echo", ""}, Dir: "/ä"}, ""},
		{Spec{Argv: []string{"", "x"}}, "the first word, the program, is empty"},
		{Spec{Argv: []string{"echo", "a\x00b"}}, "word 2: it has a NUL"},
		{Spec{Argv: []string{"echo\xff"}}, "word 1: it is not UTF-8"},
		{Spec{Argv: []string{"echo"}, Dir: "\xff"}, "it is not UTF-8"},
	} {
		err := c.spec.CanRun()
		said := ""
		if err != nil {
			said = err.Error()
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%q: %v, want %q", c.spec.Argv, err, c.want)
		}
	}
}
