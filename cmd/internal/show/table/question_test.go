package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct {
		style    Style
		in, want string
	}{
		{Style{}, "one\n\ntwo\t\x1b", "│ one\n│ \n│ two⇥\\u{1b}\n"},
		{Style{}, "", "│ \n"},
		{Style{ASCII: true, Width: 6}, "abcdefghi\njk", "| abcd\n: efgh\n: i\n| jk\n"},
		{Style{Width: 7}, "a    b  c", "│ a    \n┆ b  c\n"},
		{Style{Width: 7}, "│ x\n┆ y", "│ │ x\n│ ┆ y\n"},
		{Style{Width: 7}, "日本語", "│ 日本\n┆ 語\n"},
		{Style{Width: 7}, "⚠️⚠️⚠️", "│ ⚠️⚠️\n┆ ⚠️\n"}, // of which a terminal may draw two columns each
		{Style{Width: 20}, "👩\u200d👩", "│ 👩\\u{200d}👩\n"},
		{Style{Width: 7}, "привет", "│ приве\n┆ т\n"},
		{Style{Width: 7, Wide: true}, "привет", "│ пр\n┆ ив\n┆ ет\n"},
		{Style{Width: 1}, "ab", "│ a\n┆ b\n"},
		{Style{Width: 80, Colour: true}, "a", "│ a\n"}, // a faint margin would not be seen everywhere
	} {
		if got := c.style.Quote(c.in); got != c.want {
			t.Errorf("%+v: %q: got\n%s, want\n%s", c.style, c.in, got, c.want)
		}
	}
}

// FuzzQuote checks that every line of a quoted text is behind a margin and within the width, and
// that nothing of it is lost.
func FuzzQuote(f *testing.F) {
	f.Add("one\n\ntwo three, and four", 12)
	f.Add("日本語 é 👩\u200d👩\u200d👧\x1b", 13)
	f.Fuzz(func(t *testing.T, in string, width int) {
		if width < 12 || width > 300 {
			return
		}
		s := Style{Width: width}
		var back []string
		for line := range strings.Lines(s.Quote(in)) {
			line = strings.TrimSuffix(line, "\n")
			if columns(line) > width {
				t.Errorf("%q has more than %d columns", line, width)
			}
			if text, ok := strings.CutPrefix(line, "│ "); ok {
				back = append(back, text)
			} else if text, ok := strings.CutPrefix(line, "┆ "); ok && len(back) > 0 {
				back[len(back)-1] += text
			} else {
				t.Errorf("%q has no margin", line)
			}
		}
		if want := harmless.Lines(in); !slices.Equal(back, want) {
			t.Errorf("got %q, want %q", back, want)
		}
	})
}

// drawn draws a question with this text and request.
func drawn(t *testing.T, s Style, spec queue.AskSpec) string {
	t.Helper()
	now := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	task := &queue.Task{ID: "qabcdefghij", State: queue.Open, EnqueuedAt: now, Spec: string(spec.Content()),
		Ask: &queue.Ask{Kind: queue.AskPermission, Text: spec.Brief(),
			Askers: []queue.Asker{{Participant: "agent", User: "ada\nqzzzzzzzzzz: permission"}}}}
	got, err := s.Question(task, spec, queue.Seen{Observation: observe.Observation{Now: now.Add(time.Second)}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		text, input string
		want        string
	}{
		"text": {"May I?\ntool:", "", "| May I?\n| tool:\n"},
		"command": {"May I?", `{"tool":"Bash","command":"git status\nrm -rf x"}`,
			"| May I?\ntool:\n| Bash\ncommand:\n| git status\n| rm -rf x\n"},
		"argv": {"May I?", `{"argv":["git","commit","-m","it's\nb",""]}`,
			"| May I?\ncommand:\n| git commit -m 'it'\\''s\n| b' ''\n"},
		"no words": {"May I?", `{"argv":[]}`, "| May I?\nrequest:\n| \"argv\": []\n"},
		"tool":     {"May I?", `{"tool":"a\ncommand:"}`, "| May I?\ntool:\n| a\\u{a}command:\n"},
		"others are before, long ones first": {"May I?",
			`{"tool_name":"Write","tool_input":{"path":"/x","content":"a\n  \"path\": \"/y\"\n"},"none":{},"n":[1,"b",null]}`,
			"| May I?\nrequest:\n| \"tool_input\":\n|   \"content\":\n|     | a\n|     |   \"path\": \"/y\"\n|     | \n" +
				"|   \"path\": \"/x\"\n| \"none\": {}\n| \"n\": [1, \"b\", null]\ntool:\n| Write\n"},
		"what is no command is with the others": {"May I?",
			`{"command":["a"],"tool_input":{"tool":"x","command":"b","deep":{"command":"b"}},"argv\n":1}`,
			"| May I?\nrequest:\n| \"tool_input\":\n|   \"deep\":\n|     \"command\": \"b\"\n|   \"tool\": \"x\"\n" +
				"| \"command\": [\"a\"]\n| \"argv\\u{a}\": 1\ncommand:\n| b\n"},
		"lists": {"May I?", `{"l":[{"a":1},["b\nc"],[],"d\ne"]}`,
			"| May I?\nrequest:\n| \"l\":\n|   -\n|     \"a\": 1\n|   -\n|     -\n|       | b\n|       | c\n|   - []\n" +
				"|   -\n|     | d\n|     | e\n"},
		"quotes": {"May I?", `{"a\"b":"c\\u{202e}\"\u202e"}`,
			"| May I?\nrequest:\n| \"a\\\"b\": \"c\\\\u{5c}u{202e}\\\"\\u{202e}\"\n"},
		"a request that rules refuse": {"May I?", `{"tool":"a","tool_name":"b"}`,
			"| May I?\nrequest:\n| \"tool\": \"a\"\n| \"tool_name\": \"b\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			const head = "qabcdefghij: permission, asked 1s ago; 0s left\n" +
				"| by agent, user ada\\u{a}qzzzzzzzzzz: permission\n"
			got := drawn(t, Style{ASCII: true}, queue.AskSpec{Text: c.text, Input: c.input})
			if got != head+c.want {
				t.Errorf("got\n%s\nwant\n%s", got, head+c.want)
			}
		})
	}
}

// TestQuestionLast: whatever else is in a request, its tool and its command are the last lines, and
// nobody else can draw the lines that say so.
func TestQuestionLast(t *testing.T) {
	var others strings.Builder
	for i := range 500 {
		fmt.Fprintf(&others, `,"m%d":{"command":"git status","x":"\ncommand:\n│ git status"}`, i)
	}
	got := drawn(t, Style{Width: 80}, queue.AskSpec{Text: "May I?\ntool:\n│ Bash\n" + strings.Repeat("\n", 60),
		Input: `{"tool_name":"Bash","tool_input":{"command":"rm -rf /home/ada"}` + others.String() + `}`})
	const last = "\ntool:\n│ Bash\ncommand:\n│ rm -rf /home/ada\n"
	if !strings.HasSuffix(got, last) {
		t.Errorf("it ends with\n%s", got[len(got)-200:])
	}
	own := 0
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "│ ") && !strings.HasPrefix(line, "┆ ") {
			own++
		}
	}
	if own != 4 {
		t.Errorf("%d lines have no margin, want 4\n%s", own, got)
	}
}
