package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
)

// membersOf returns the members of the object text.
func membersOf(t *testing.T, text string) []wire.Member {
	t.Helper()
	all, err := wire.Decode(text, 0, func(r *wire.Reader) (all []wire.Member) {
		r.Object(func(name string) { r.Unknown(&all, name) })
		return all
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The rules are in the order of §41. What nothing can judge is left to a person.
func TestOfTask(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                   "",
		`{"intent":"x"}`:       "",
		`{"exit":[1],"a":[5]}`: "",
		`{"required_artifacts":[],"acceptance_criteria":[],"tests_required":false}`: "",
		`{"test_command":"make"}`:                               "",
		`{"test_command":"make","required_artifacts":["a"]}`:    `{"files":["a"]}`,
		`{"test_command":"make x","tests_required":true}`:       `{"command":["sh","-c","make x"]}`,
		`{"required_artifacts":["./a b","app/[id]*?\\.ts"]}`:    `{"files":["a b","app/\\[id]\\*\\?\\\\.ts"]}`,
		`{"acceptance_criteria":["a.txt exists","b/c exists"]}`: `{"files":["a.txt","b/c"]}`,
		`{"acceptance_criteria":["a.c contains \"a.b\"","a.c contains 'x'","a.c exists"]}`: `{"files":["a.c"],` +
			`"contains":{"a.c":["a\\.b","x"]}}`,
		`{"acceptance_criteria":["It is polite.","README exists","a.c contains x","a.c contains \"\"","a.c contains \"x","a.c contains \"x\" and \"y\"","a.c exists, too"," a.c exists","a.c"]}`: `{"prose":[` +
			`"It is polite.","README exists","a.c contains x","a.c contains \"\"","a.c contains \"x",` +
			`"a.c contains \"x\" and \"y\"","a.c exists, too"," a.c exists","a.c"]}`,
		`{"expected_json_schema":{"id":"integer"},"required_artifacts":["a.json","b","c.json","b"],"acceptance_criteria":["./a.json exists"]}`: `{"files":` +
			`["a.json","b","c.json"],"json":{"a.json":{"type":"object","properties":{"id":{"type":"integer"}},` +
			`"required":["id"],"additionalProperties":false},"c.json":{"type":"object","properties":` +
			`{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}}}`,
		`{"expected_json_schema":{"minimum":1},"acceptance_criteria":["a.json exists"]}`: `{"files":["a.json"],` +
			`"json":{"a.json":{"minimum":1}}}`,
	} {
		got, err := OfTask(membersOf(t, text))
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
		if got != "" {
			if _, err := Decode(got); err != nil {
				t.Errorf("%s: %s: %v", text, got, err)
			}
		}
	}
}

func TestOfTaskRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"required_artifacts":"a"}`:                                             "/required_artifacts: an array is expected",
		`{"required_artifacts":["a","../b"]}`:                                    `/required_artifacts/1: want a path inside the directory of the attempt, without ".."`,
		`{"required_artifacts":["/b"]}`:                                          "/required_artifacts/0: want a path inside",
		`{"required_artifacts":["dist/"]}`:                                       "/required_artifacts/0: want the path of a file",
		`{"acceptance_criteria":[""]}`:                                           "/acceptance_criteria/0: it is empty",
		`{"acceptance_criteria":["/etc/x exists"]}`:                              "/acceptance_criteria/0: want a path inside",
		`{"tests_required":true}`:                                                "/tests_required: it goes with test_command",
		`{"tests_required":true,"test_command":"a\u0000"}`:                       "/test_command: no command takes a NUL",
		`{"tests_required":"yes"}`:                                               "/tests_required: true or false",
		`{"expected_json_schema":{"id":"integer"}}`:                              "/expected_json_schema: no file of required_artifacts ends in .json",
		`{"expected_json_schema":{"id":"text"},"required_artifacts":["a.json"]}`: "/expected_json_schema: JSON Schema has no word id",
	} {
		_, err := OfTask(membersOf(t, text))
		if !errors.Is(err, wire.ErrCorrupt) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// FuzzOfTask checks that what it returns is rules, except for a schema that is not valid and a file
// that is named twice.
func FuzzOfTask(f *testing.F) {
	f.Add(`{"required_artifacts":["a.json"],"acceptance_criteria":["b.c contains 'x'","x"],` +
		`"test_command":"y","tests_required":true,"expected_json_schema":{"id":"integer"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		members, err := wire.Decode(text, 0, func(r *wire.Reader) (all []wire.Member) {
			r.Object(func(name string) { r.Unknown(&all, name) })
			return all
		})
		if err != nil {
			return
		}
		rules, err := OfTask(members)
		if err != nil || rules == "" {
			return
		}
		if _, err := Decode(rules); err != nil {
			t.Errorf("%s: %s: %v", text, rules, err)
		}
	})
}
