package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// OfTask returns the rules that a task without `check` means by other members (spec §45.1), or ""
// if it means none. Its errors are those of wire.Decode. What it returns may still be no rules, as
// Decode tells: a file may be outside the directory.
func OfTask(members []wire.Member) (rules string, err error) {
	text := wire.Line(func(w *wire.Writer) {
		for _, m := range members {
			if slices.Contains(ofTask, m.Name) {
				w.Raw(m.Name, m.Value)
			}
		}
	})
	t, err := wire.DecodeRecord(text, (*asked).record)
	if err != nil || t.asksNothing() {
		return "", err
	}
	return t.rules(), nil
}

// ofTask has the members that OfTask reads.
var ofTask = []string{"required_artifacts", "acceptance_criteria", "test_command", "tests_required",
	"expected_json_schema"}

// asked is what a task asks for.
type asked struct {
	files    []Pattern
	contains []Text
	json     []Shape
	test     string
	must     bool // test must pass; otherwise it decides nothing, and is not run
	prose    []string
}

func (t *asked) asksNothing() bool {
	return t.files == nil && t.contains == nil && t.json == nil && !t.must && t.prose == nil
}

// record reads t.
func (t *asked) record(c *wire.Codec) {
	schema := ""
	c.Known(func(c *wire.Codec) { t.members(c, &schema) })

	if t.must && t.test == "" {
		c.FailMember("tests_required", "it goes with test_command")
	}
	if schema == "" {
		return
	}
	for _, p := range t.files {
		if path.Ext(string(p)) == ".json" {
			t.json = append(t.json, Shape{p, schema})
		}
	}
	if t.json == nil {
		c.FailMember("expected_json_schema", "no file of required_artifacts ends in .json")
	}
}

func (t *asked) members(c *wire.Codec, schema *string) {
	c.Own("required_artifacts", func(r *wire.Reader) {
		r.Array(func() { t.mustExist(readFile(r, r.String())) })
	}, nil, wire.Always)
	c.Own("acceptance_criteria", func(r *wire.Reader) {
		r.Array(func() { t.criterion(r, readText(r, true)) })
	}, nil, wire.Always)
	c.Text("test_command", &t.test, func(r *wire.Reader) string { return readWord(r, false) },
		wire.Always)
	c.Bool("tests_required", &t.must, wire.Always)
	c.Raw("expected_json_schema", schema, readSchema, wire.Always)
}

// readFile returns the pattern that names the file at name and no other.
func readFile(r *wire.Reader, name string) Pattern {
	var only strings.Builder
	for _, c := range []byte(strings.TrimPrefix(name, "./")) {
		if strings.IndexByte(`*?[\`, c) >= 0 {
			only.WriteByte('\\')
		}
		only.WriteByte(c)
	}

	p, err := ParsePattern(only.String())
	if err != nil {
		r.Refuse("%v", err)
	}
	return p
}

// criterion adds a rule for text: `FILE exists` and `FILE contains "TEXT"` can be looked at, where
// FILE is a word with a dot or a slash. All else only a person can judge.
func (t *asked) criterion(r *wire.Reader, text string) {
	file, what, _ := strings.Cut(text, " ")
	quoted, contains := strings.CutPrefix(what, "contains ")
	switch {
	case !strings.ContainsAny(file, "./"):
		t.prose = append(t.prose, text)
	case what == "exists":
		t.mustExist(readFile(r, file))
	case contains && isQuoted(quoted):
		t.mustContain(readFile(r, file), regexp.QuoteMeta(quoted[1:len(quoted)-1]))
	default:
		t.prose = append(t.prose, text)
	}
}

// isQuoted reports whether text is in quotes of one kind, and not empty.
func isQuoted(text string) bool {
	return len(text) > 2 && strings.Count(text, text[:1]) == 2 && text[len(text)-1] == text[0] &&
		(text[0] == '"' || text[0] == '\'')
}

func (t *asked) mustExist(file Pattern) {
	if !slices.Contains(t.files, file) {
		t.files = append(t.files, file)
	}
}

func (t *asked) mustContain(file Pattern, source string) {
	i := slices.IndexFunc(t.contains, func(other Text) bool { return other.Files == file })
	if i < 0 {
		i = len(t.contains)
		t.contains = append(t.contains, Text{Files: file})
	}
	t.contains[i].Match = append(t.contains[i].Match, Match{Source: source})
}

// rules returns the text of the rules of t.
func (t *asked) rules() string {
	return wire.Line(func(w *wire.Writer) {
		if t.files != nil {
			w.Strings("files", texts(t.files))
		}
		if t.contains != nil {
			w.Object("contains", func(w *wire.Writer) {
				for _, c := range t.contains {
					sources := make([]string, len(c.Match))
					for i, m := range c.Match {
						sources[i] = m.Source
					}
					w.Strings(string(c.Files), sources)
				}
			})
		}
		if t.json != nil {
			w.Object("json", func(w *wire.Writer) {
				for _, s := range t.json {
					w.Raw(string(s.Files), s.Schema)
				}
			})
		}
		if t.must {
			w.Strings("command", []string{"sh", "-c", t.test})
		}
		if t.prose != nil {
			w.Strings("prose", t.prose)
		}
	})
}
