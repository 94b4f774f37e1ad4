package harmless

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile is text that a terminal obeys, and how each is shown.
var hostile = []struct{ in, text, message string }{
	{"plain, ä€😀 text", "plain, ä€😀 text", "plain, ä€😀 text"},
	{"\x1b[2J", "\ufffd[2J", `\x1b[2J`},
	{"a\u009b31m", "a\ufffd31m", `a\u009b31m`},
	{"\u202etxt.exe\u2066", "\ufffdtxt.exe\ufffd", `\u202etxt.exe\u2066`},
	{"a\tb\nc\x7f", "a\ufffdb\ufffdc\ufffd", `a\x09b\x0ac\x7f`},
	{"line\u2028two", "line\ufffdtwo", `line\u2028two`},
	{"bytes \x9b\xff", "bytes \ufffd", `bytes \x9b\xff`},
	{"\ufffd", "\ufffd", "\ufffd"},
	{"", "", ""},
}

func TestTextAndMessage(t *testing.T) {
	for _, c := range hostile {
		if got := Text(c.in); got != c.text {
			t.Errorf("Text(%q): got %q, want %q", c.in, got, c.text)
		}
		if got := Message(c.in); got != c.message {
			t.Errorf("Message(%q): got %q, want %q", c.in, got, c.message)
		}
	}
}

// TestJSON checks that unsafe characters are escaped, and that the document stays the same.
func TestJSON(t *testing.T) {
	for _, c := range hostile {
		if !utf8.ValidString(c.in) {
			continue
		}

		text, err := json.MarshalIndent(map[string]string{c.in: "\u009b" + c.in}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}

		safe := JSON(string(text))
		var got map[string]string
		if err := json.Unmarshal([]byte(safe), &got); err != nil || got[c.in] != "\u009b"+c.in {
			t.Errorf("%q: got %q, %v", c.in, safe, err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(safe, "\n", ""), unsafe) {
			t.Errorf("%q: got %q", c.in, safe)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"short", 5, "short"}, {"abcdefghijklmnop", 11, "abc ... nop"}, {"äöüäöüäöü", 11,
		"ä ... ü"}} {
		if got := Short(c.in, c.most); got != c.want || len(got) > c.most {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
