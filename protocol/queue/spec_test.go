package queue

import (
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
