package audit

import (
	"strings"
	"testing"
)

// A replay gives each object that there was.
func TestReplay(t *testing.T) {
	t.Parallel()
	lines, _, text := history()
	s := State{Shape: shape}
	for _, line := range lines {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if path, fits := s.Replay(l); !fits {
			t.Errorf("line %d does not fit at %s", l.Seq, path)
		}
		if l.Seq == 2 {
			const want = `{"name":"q","revision":2,"tasks":[{"id":"a","state":"waiting","n":1},{"id":"b","n":2}]}`
			if s.Text() != want {
				t.Errorf("after line 2: %s", s.Text())
			}
		}
	}
	if s.Text() != text {
		t.Errorf("at the end: %s, want %s", s.Text(), text)
	}
}

// A patch that does not fit is found.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []Change{
		{"tasks/a/n", "2", "3", ""}, {"tasks/a/x", "1", "2", ""}, {"tasks/a/n", "", "1", ""}, {"tasks/a", "", "{}", ""},
		{"tasks/c", `{"id":"c"}`, "", ""}, {"x", "", "", ""}, {"name", `"p"`, `"r"`, ""},
	} {
		s := State{Shape: shape}
		s.Replay(Line{Seq: 1, Entry: Entry{Patch: []Change{{After: `{"name":"q","tasks":[{"id":"a","n":1}]}`}}}})
		if path, fits := s.Replay(Line{Seq: 2, Entry: Entry{Patch: []Change{c}}}); fits || path != c.Path {
			t.Errorf("%+v fits", c)
		}
	}
}

// Diff and replay are inverse: whatever changes in an object.
func TestDiff(t *testing.T) {
	t.Parallel()
	objects := []string{
		`{}`, `{"a":1}`, `{"a":{"b":1,"c":[1,2]}}`, `{"a":{"b":1,"c":[1]},"d":null}`,
		`{"a":[],"d":{}}`, `{"a/b":{"~":1},"":0}`, `{"":{"":1},"a":"\u00e9 \"x\" "}`,
	}
	for _, before := range objects {
		for _, after := range objects {
			s := State{}
			s.Replay(Line{Seq: 1, Entry: Entry{Patch: []Change{{After: before}}}})
			path, fits := s.Replay(Line{Seq: 2, Entry: Entry{Patch: Diff(nil, "", before, after)}})
			s.SetRevision(7)
			want := `{"revision":7,` + strings.TrimPrefix(after, "{")
			if after == "{}" {
				want = `{"revision":7}`
			}
			if differ := s.Differ(want); !fits || differ != nil {
				t.Errorf("from %s to %s: %s, %v: %q", before, after, path, s.Text(), differ)
			}
		}
	}
}
