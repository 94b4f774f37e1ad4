package check

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// refused has texts that are no rules, and why.
var refused = map[string]string{
	``:                                        "the file is empty",
	`[]`:                                      "an object is expected",
	`{"exits":[0]}`:                           "/exits: there is no such member",
	`{"exit":0}`:                              "/exit: an array is expected",
	`{"exit":[]}`:                             "/exit: it is empty: leave it out",
	`{"exit":[256]}`:                          "/exit/0: an exit status is at most 255",
	`{"exit":[-1]}`:                           "/exit/0: an integer of at least 0",
	`{"files":"a"}`:                           "/files: an array is expected",
	`{"files":[]}`:                            "/files: it is empty: leave it out",
	`{"files":["a",""]}`:                      "/files/1: it is empty",
	`{"files":["/etc/passwd"]}`:               "/files/0: want a path inside the directory of the attempt, not an absolute one",
	`{"files":["a/../../b"]}`:                 `/files/0: want a path inside the directory of the attempt, without ".."`,
	`{"changed":["./a"]}`:                     "/changed/0: want the path of a file",
	`{"changed":["a//b"]}`:                    "/changed/0: want the path of a file",
	`{"files":["a/"]}`:                        "/files/0: want the path of a file",
	`{"files":["a[b"]}`:                       "/files/0: a [ without a ]",
	`{"files":["a\\"]}`:                       "/files/0: a [ without a ], or a \\",
	`{"files":["a\u0000"]}`:                   "/files/0: no file has a NUL in its name",
	`{"contains":{}}`:                         "/contains: it is empty",
	`{"contains":{"/a":"x"}}`:                 "/contains/~1a: want a path inside",
	`{"contains":{"a":""}}`:                   "/contains/a: it is empty",
	`{"contains":{"a":[]}}`:                   "/contains/a: it is empty",
	`{"contains":{"a":["x","("]}}`:            "/contains/a/1: error parsing regexp: missing closing )",
	`{"contains":{"a":"a)(b"}}`:               "/contains/a: error parsing regexp: unexpected )",
	`{"contains":{"a":"x","a":"y"}}`:          "/contains/a: duplicate",
	`{"absent":{"a":"x{1001}"}}`:              "/absent/a: error parsing regexp: invalid repeat count",
	`{"absent":{"a":5}}`:                      "/absent/a: an array is expected",
	`{"json":{}}`:                             "/json: it is empty",
	`{"json":{"a":{"name":"text"}}}`:          "/json/a: JSON Schema has no word name",
	`{"json":{"a":{"name":{"b":"string"}}}}`:  "/json/a: JSON Schema has no word name",
	`{"json":{"a":{"type":"object","x":{}}}}`: "/json/a: JSON Schema has no word x",
	`{"json":{"a":{"type":"string","title":"string"}}}`: "/json/a: it may be a JSON Schema, or names",
	`{"command":[]}`:                   "/command: it is empty",
	`{"command":[""]}`:                 "/command/0: it is empty",
	`{"command":["a","\u0000"]}`:       "/command/1: no command takes a NUL",
	`{"command":"make"}`:               "/command: an array is expected",
	`{"command":["a"],"timeoutMs":0}`:  "/timeoutMs: an integer of at least 1",
	`{"timeoutMs":5}`:                  "/timeoutMs: it goes with command",
	`{"prose":[]}`:                     "/prose: it is empty",
	`{"uncertain":"pass"}`:             `/uncertain: want fail or block, not "pass"`,
	`{"uncertain":true}`:               "/uncertain: a string is expected",
	`{"uncertain":"fail","prose":"x"}`: "/uncertain: prose is always uncertain",
	`{"prose":""}`:                     "/prose: it is empty",
	`{"prose":["x",5]}`:                "/prose/1: a string is expected",
	`{"exit":[0]} x`:                   "data after the end",
	"{\"prose\":\"\xff\"}":             "invalid UTF-8",
}

// What is refused is refused with its place.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range refused {
		_, err := Decode(text)
		if !errors.Is(err, wire.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// A text that stands for a schema becomes one.
func TestSchemaOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                              `{}`,
		`true`:                            `true`,
		`{"type":"object"}`:               `{"type":"object"}`,
		`{"type":"string","minLength":1}`: `{"type":"string","minLength":1}`,
		`{"$ref":"#/$defs/a","$defs":{}}`: `{"$ref":"#/$defs/a","$defs":{}}`,
		`{"const":"x"}`:                   `{"const":"x"}`,
		`{"id":"integer"}`: `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],` +
			`"additionalProperties":false}`,
		`{"title":"string","description":"null"}`: `{"type":"object","properties":{"title":` +
			`{"type":"string"},"description":{"type":"null"}},"required":["title","description"],` +
			`"additionalProperties":false}`,
		`{"type":"string","\"":"array"}`: `{"type":"object","properties":{"type":{"type":"string"},` +
			`"\"":{"type":"array"}},"required":["type","\""],"additionalProperties":false}`,
	} {
		rules, err := Decode(`{"json":{"a":` + text + `}}`)
		if err != nil || rules.JSON[0].Schema != want {
			t.Errorf("%s: got %v, %v", text, rules.JSON, err)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	r, err := Decode(`{"command":["a",""],"timeoutMs":5,"prose":"x","contains":{"a":"x","b":["y","z"]}}`)
	if err != nil || r.Timeout != 5*time.Millisecond || len(r.Command) != 2 || len(r.Prose) != 1 ||
		len(r.Contains) != 2 || r.Contains[0].Files != "a" || len(r.Contains[1].Match) != 2 {
		t.Errorf("got %v, %v", r, err)
	}
	if r, err := Decode(`{"uncertain":"block","prose":"x"}`); err != nil || r.Strict {
		t.Errorf("got %v, %v", r, err)
	}
	if r, err := Decode(`{}`); err != nil || r.Timeout != 10*time.Minute || r.Exit != nil {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[Pattern]string{
		"a": "a", "a/b.c": "a/b.c", `a\*`: "a*", `a\\b/\[`: `a\b/[`, "é": "é",
		"*": "", "a?": "", "a/[b]": "", `a\*/*`: "",
	} {
		if got, only := pattern.Path(); got != want || only != (want != "") {
			t.Errorf("%s: got %q, %t", pattern, got, only)
		}
	}
}

// FuzzDecode checks that no text makes Decode or Judge panic, that an error says what it is, and
// that no rule leads out of the directory.
func FuzzDecode(f *testing.F) {
	f.Add(`{"exit":[0],"files":["a"],"changed":["b*"],"contains":{"c":"x"},"absent":{"d":["y"]},` +
		`"json":{"e":{"id":"integer"},"f":true},"command":["g"],"timeoutMs":5,"prose":"h"}`)
	f.Add(`{"uncertain":"fail","files":["*.huge","\xff"],"command":["g"]}`)
	f.Add(`{"json":{"a":{"type":"string","title":"string"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Decode(text)
		if err != nil {
			if !errors.Is(err, wire.ErrCorrupt) && !errors.Is(err, wire.ErrNewerVersion) {
				t.Error(err)
			}
			return
		}

		world := &fake{exit: status(0), texts: map[string]string{"a": text, "\xff": "x"}}
		r := rules.Judge(world, &Snapshot{Patterns: rules.Changed})
		for _, path := range world.touched {
			if path == "" || path[0] == '/' || strings.Contains("/"+path+"/", "/../") {
				t.Errorf("%q is looked at", path)
			}
		}
		if r.Verdict() == Passed && r.Looked == 0 || rules.Prose != nil && r.Verdict() == Passed {
			t.Errorf("got %v", r)
		}
		s, err := rules.Take(world)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeSnapshot(s.Encode()); err != nil {
			t.Error(err)
		}
	})
}

// FuzzDecodeSnapshot checks that what is accepted is written the same way.
func FuzzDecodeSnapshot(f *testing.F) {
	f.Add(`{"changed":["a"],"files":[{"path":"a","size":1,"inode":-2,"ctimeNs":3,"young":true}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := DecodeSnapshot(text)
		if err != nil {
			return
		}
		if again, err := DecodeSnapshot(s.Encode()); err != nil || again.Encode() != s.Encode() {
			t.Errorf("%v: %v, %v", s, again, err)
		}
	})
}
