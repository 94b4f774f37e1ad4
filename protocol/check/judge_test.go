package check

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Every rule is judged as spec §41 and §42 say.
func TestJudge(t *testing.T) {
	t.Parallel()
	files := fake{
		texts: map[string]string{"a.txt": "one\ntwo\n", "b.txt": "two\nthree", "binary": "o\x00n\x00e",
			"latin": "one\xfftwo", "data.json": "{}"},
		errs: map[string]error{"secret": errDoubt, "link": Fact("a link"), "*.huge": errDoubt},
		broken: map[string]error{"one\ntwo\n": Fact("it is not valid JSON"),
			"two\nthree": errDoubt},
	}

	for _, tt := range []struct {
		name, rules string
		change      func(*fake)
		verdict     Verdict
		looked      int
		want        string
	}{
		{"nothing", `{}`, nil, Unchecked, 0, ""},
		{"no rule, exit 0", `{}`, func(f *fake) { f.exit = status(0) }, Unchecked, 0, ""},
		{"no rule, exit 3", `{}`, func(f *fake) { f.exit = status(3) }, Failed, 1, "!exit 0: exit status 3\n"},
		{"exit", `{"exit":[0]}`, func(f *fake) { f.exit = status(0) }, Passed, 1, ""},
		{"another exit", `{"exit":[2,3]}`, func(f *fake) { f.exit = status(3) }, Passed, 1, ""},
		{"wrong exit", `{"exit":[2,3]}`, func(f *fake) { f.exit = status(0) }, Failed, 1, "!exit 2, 3: exit status 0\n"},
		{"unknown exit", `{"exit":[0]}`, nil, Uncertain, 0, "?exit 0: the exit status is not known\n"},

		{"files", `{"files":["a.txt","*.txt"]}`, nil, Passed, 3, ""},
		{"missing", `{"files":["c.txt","a.txt"]}`, nil, Failed, 2, "!files c.txt: it does not exist\n"},
		{"no match", `{"files":["*.pdf"]}`, nil, Failed, 1, "!files *.pdf: no file matches\n"},
		{"no match for absent", `{"absent":{"*.pdf":"x"}}`, nil, Failed, 1, "!absent *.pdf: no file matches\n"},
		{"no match for json", `{"json":{"*.pdf":true}}`, nil, Failed, 1, "!json *.pdf: no file matches\n"},
		{"too many", `{"files":["*.huge"]}`, nil, Uncertain, 0, "?files *.huge: no permission\n"},
		{"strict", `{"uncertain":"fail","files":["*.huge","a.txt"]}`, nil, Failed, 1, "!files *.huge: no permission\n"},
		{"not strict", `{"uncertain":"block","files":["*.huge","a.txt"]}`, nil, Uncertain, 1, "?files *.huge: no permission\n"},
		{"strict about nothing", `{"uncertain":"fail"}`, nil, Unchecked, 0, ""},
		{"link", `{"files":["link"]}`, nil, Failed, 1, "!files link: a link\n"},
		{"unreadable", `{"files":["secret"]}`, nil, Uncertain, 0, "?files secret: no permission\n"},

		{"contains", `{"contains":{"*.txt":"two"}}`, nil, Passed, 2, ""},
		{"contains not", `{"contains":{"*.txt":["two","three"]}}`, nil, Failed, 4, "!contains a.txt three: nothing matches\n"},
		{"lines", `{"contains":{"a.txt":["^two$","(?-m)two\n$"]}}`, nil, Passed, 2, ""},
		{"one line", `{"contains":{"a.txt":"^t.*o$"}}`, nil, Passed, 1, ""},
		{"contains in nothing", `{"contains":{"c.txt":["x","y"]}}`, nil, Failed, 2,
			"!contains c.txt x: it does not exist\n!contains c.txt y: it does not exist\n"},
		{"contains in a secret", `{"contains":{"secret":"x"}}`, nil, Uncertain, 0, "?contains secret x: no permission\n"},
		{"contains in binary", `{"contains":{"binary":["o","one"]}}`, nil, Uncertain, 1,
			"?contains binary one: nothing matches, but it is not text: it has a NUL\n"},
		{"contains beside a bad byte", `{"contains":{"latin":["^one","two$"]}}`, nil, Passed, 2, ""},

		{"absent", `{"absent":{"*.txt":"four"}}`, nil, Passed, 2, ""},
		{"not absent", `{"absent":{"*.txt":"thr"}}`, nil, Failed, 2, "!absent b.txt thr: line 2 matches: three\n"},
		{"not absent in binary", `{"absent":{"binary":"o"}}`, nil, Failed, 1, "!absent binary o: line 1 matches: o\x00n\x00e\n"},
		{"absent in binary", `{"absent":{"binary":"one"}}`, nil, Uncertain, 0,
			"?absent binary one: nothing matches, but it is not text: it has a NUL\n"},
		{"absent beside a bad byte", `{"absent":{"latin":"three"}}`, nil, Passed, 1, ""},
		{"not absent beside a bad byte", `{"absent":{"latin":"two"}}`, nil, Failed, 1, "!absent latin two: line 1 matches: one\uFFFDtwo\n"},
		{"absent in nothing", `{"absent":{"c.txt":"x"}}`, nil, Failed, 1, "!absent c.txt x: it does not exist\n"},
		{"absent in a secret", `{"absent":{"secret":"x"}}`, nil, Uncertain, 0, "?absent secret x: no permission\n"},

		{"json", `{"json":{"data.json":{}}}`, nil, Passed, 1, ""},
		{"no json", `{"json":{"*.txt":{}}}`, nil, Failed, 1,
			"!json a.txt: it is not valid JSON\n?json b.txt: no permission\n"},
		{"json in nothing", `{"json":{"c.json":{}}}`, nil, Failed, 1, "!json c.json: it does not exist\n"},

		{"command", `{"command":["make","test"]}`, nil, Passed, 1, ""},
		{"command fails", `{"command":["make","test"]}`, func(f *fake) { f.status = 2 }, Failed, 1, "!command make test: it exited 2\n"},
		{"command is unsure", `{"command":["make"]}`, func(f *fake) { f.status = 75 }, Uncertain, 0,
			"?command make: it exited 75: it cannot tell\n"},
		{"command does not end", `{"command":["make"]}`, func(f *fake) { f.runErr = errDoubt }, Uncertain, 0,
			"?command make: no permission\n"},

		{"prose", `{"prose":["It is nice.","It rhymes."]}`, nil, Uncertain, 0,
			"?prose It is nice.: a person must look\n?prose It rhymes.: a person must look\n"},
		{"prose beside success", `{"files":["a.txt"],"prose":"It is nice."}`, nil, Uncertain, 1, "?prose It is nice.: a person must look\n"},
		{"failure beside doubt", `{"prose":"It is nice.","files":["c.txt"]}`, nil, Failed, 1,
			"!files c.txt: it does not exist\n?prose It is nice.: a person must look\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := Decode(tt.rules)
			if err != nil {
				t.Fatal(err)
			}
			f := files
			if tt.change != nil {
				tt.change(&f)
			}
			r := rules.Judge(&f, nil)
			if got := lines(r); got != tt.want || r.Verdict() != tt.verdict || r.Looked != tt.looked {
				t.Errorf("got %s, %d looked at:\n%swant %s, %d:\n%s", r.Verdict(), r.Looked, got,
					tt.verdict, tt.looked, tt.want)
			}
		})
	}
}

// Whatever the order in the text, the command runs last, and once, even if a rule is broken. Its
// output is in the report.
func TestOrder(t *testing.T) {
	t.Parallel()
	rules, err := Decode(`{"command":["x"],"json":{"e":{}},"absent":{"d":"x"},"contains":{"c":"x"},
		"changed":["b"],"files":["a2","a1"],"exit":[0]}`)
	if err != nil {
		t.Fatal(err)
	}

	f := &fake{exit: status(1), status: 1}
	r := rules.Judge(f, &Snapshot{Patterns: []Pattern{"b"}})
	if got := strings.Join(f.touched, " "); got != "a2 a1 b c d e command" {
		t.Errorf("got %s", got)
	}

	var order []string
	for _, finding := range r.Failed {
		order = append(order, finding.Rule)
	}
	want := []string{"exit", "files", "files", "changed", "contains", "absent", "json", "command"}
	if !slices.Equal(order, want) || f.ran != 1 || r.Failed[7].Output != "output" {
		t.Errorf("got %v, %d runs, %q", order, f.ran, r.Failed[len(r.Failed)-1].Output)
	}
}

// A long line in the report is short, and valid.
func TestLongLine(t *testing.T) {
	t.Parallel()
	rules, _ := Decode(`{"absent":{"a":"x"}}`)
	f := &fake{texts: map[string]string{"a": "\n" + strings.Repeat("é", 150) + "x"}}
	got := rules.Judge(f, nil).Failed[0].Found
	if want := "line 2 matches: " + strings.Repeat("é", 100) + "..."; got != want {
		t.Errorf("got %q", got)
	}
	if got := Shorten("a" + strings.Repeat("é", 150)); len(got) != 203 {
		t.Errorf("got %d bytes", len(got))
	}
}

// changed compares with the snapshot, and never guesses.
func TestChanged(t *testing.T) {
	t.Parallel()
	old := Stamp{Size: 1, Inode: 2, Status: 3}
	young := old
	young.Young = true
	for _, tt := range []struct {
		name   string
		start  *Snapshot
		stamps map[string]Stamp
		want   string
	}{
		{"no snapshot", nil, nil, "?changed *: it is not known how it was at the start\n"},
		{"snapshot of others", &Snapshot{Patterns: []Pattern{"a"}}, nil,
			"?changed *: it is not known how it was at the start\n"},
		{"new", snapshot(), map[string]Stamp{"a": old}, ""},
		{"same", snapshot(Snapped{"a", old}), map[string]Stamp{"a": old},
			"!changed *: it has not changed since the start\n"},
		{"same but now old", snapshot(Snapped{"a", young}), map[string]Stamp{"a": old},
			"?changed *: it was changed just before the start, so a change right after that cannot be seen\n"},
		{"same and now young", snapshot(Snapped{"a", old}), map[string]Stamp{"a": young},
			"!changed *: it has not changed since the start\n"},
		{"size", snapshot(Snapped{"a", young}), map[string]Stamp{"a": {Size: 2, Inode: 2, Status: 3}}, ""},
		{"inode", snapshot(Snapped{"a", old}), map[string]Stamp{"a": {Size: 1, Inode: 3, Status: 3}}, ""},
		{"time", snapshot(Snapped{"a", old}), map[string]Stamp{"a": {Size: 1, Inode: 2, Status: 2}}, ""},
		{"gone", snapshot(Snapped{"a", old}), nil, "!changed *: no file matches\n"},
		{"one of two", snapshot(Snapped{"a", old}), map[string]Stamp{"a": old, "b": old}, ""},
		{"a doubt about one of two", snapshot(Snapped{"a", old}, Snapped{"b", young}),
			map[string]Stamp{"a": old, "b": old},
			"?changed *: it was changed just before the start, so a change right after that cannot be seen\n"},
		{"a name that is not UTF-8", snapshot(), map[string]Stamp{"\xff": old},
			"?changed *: its name is not UTF-8\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{texts: map[string]string{}, stamps: tt.stamps}
			for name := range tt.stamps {
				f.texts[name] = ""
			}
			r := Rules{Changed: []Pattern{"*"}}.Judge(f, tt.start)
			if got := lines(r); got != tt.want || got == "" && r.Looked != 1 {
				t.Errorf("got %q, %d looked at", got, r.Looked)
			}
		})
	}
}

func snapshot(files ...Snapped) *Snapshot {
	return &Snapshot{Patterns: []Pattern{"*"}, Files: files}
}

// A snapshot survives its text, and has each file once. If something cannot be told there is none.
func TestTake(t *testing.T) {
	t.Parallel()
	rules := Rules{Changed: []Pattern{"*", "a", "gone"}}
	f := &fake{texts: map[string]string{"a": "", "b": "", "\xff": ""},
		stamps: map[string]Stamp{"a": {Size: 1, Inode: -2, Status: -3}, "b": {Young: true}},
		errs:   map[string]error{"b": Fact("a FIFO")}}
	s, err := rules.Take(f)
	if err != nil || len(s.Files) != 1 || s.Files[0].Path != "a" {
		t.Errorf("got %v, %v", s, err)
	}

	f.errs = nil
	s, err = rules.Take(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeSnapshot(s.Encode())
	if err != nil || !slices.Equal(again.Patterns, s.Patterns) || !slices.Equal(again.Files, s.Files) ||
		len(again.Files) != 2 {
		t.Errorf("got %v, %v\nwant %v", again, err, s)
	}

	for _, name := range []string{"a", "*"} {
		f.errs = map[string]error{name: errDoubt}
		if _, err := rules.Take(f); !errors.Is(err, errDoubt) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A report is read as it was printed, and its summary has what decided, shortened.
func TestReport(t *testing.T) {
	t.Parallel()
	r, err := DecodeReport(`{"schemaVersion":1,"verdict":"failed","looked":7,"failed":[{"rule":"files","file":"a",
		"want":"w","found":"gone","output":"o","new":1},{"rule":"b"},{"rule":"c"},{"rule":"d"},{"rule":"e"}],
		"uncertain":[{"rule":"prose","found":"?"}]}`)
	want := Finding{"files", "a", "w", "gone", "o"}
	if err != nil || r.Looked != 7 || len(r.Failed) != 5 || r.Failed[0] != want || len(r.Uncertain) != 1 {
		t.Errorf("got %v, %v", r, err)
	}
	if got := r.Summary(); got != "files a w: gone; b: ; c: ; and 2 more" {
		t.Errorf("got %s", got)
	}
	r.Failed = nil
	if got := r.Summary(); got != "prose: ?" {
		t.Errorf("got %s", got)
	}
	r.Uncertain[0].Found = strings.Repeat("é", 1000)
	if got := r.Summary(); len(got) > 300 {
		t.Errorf("got %d bytes", len(got))
	}

	for _, text := range []string{``, `[]`, `{"verdict":"passed"}`, `{"verdict":"x","looked":-1,"failed":[],"uncertain":[]}`} {
		if _, err := DecodeReport(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
