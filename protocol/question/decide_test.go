package question

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

const file = `{"rules": [
	{"decide": "allow", "tool": "Bash", "argv": ["git", "status", "*"], "options": ["-s"]},
	{"decide": "allow", "tool": "Bash", "argv": ["go", "test", "**"]},
	{"decide": "ask", "argv": ["git", "push"]},
	{"decide": "deny", "argv": ["rm"], "reason": "use trash"},
	{"decide": "allow", "tool": "Read", "paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["sh", "-c", "true"]},
	{"decide": "allow", "tool": "Old", "until": "2026-01-01T00:00:00Z"}]}`

// Verdicts follow from deny before ask before allow, and from how a rule fits.
func TestDecide(t *testing.T) {
	t.Parallel()
	rules, err := Decode(file)
	if err != nil {
		t.Fatal(err)
	}

	for request, want := range map[string]Decision{
		`{"tool": "Bash", "argv": ["git", "status"]}`:                       Allow,
		`{"tool_name": "Bash", "tool_input": {"command": "git status -s"}}`: Allow,
		`{"tool": "Read", "input": {"path": "in"}}`:                         Allow,
		`{"tool": "Read", "input": {"path": "/etc/passwd"}}`:                Ask,
		`{"tool": "Bash", "argv": ["go", "test", "-v", "./..."]}`:           Allow,
		`{"tool": "Bash", "argv": ["go", "run", "."]}`:                      Ask,
		`{"tool": "Bash", "argv": ["git", "push", "--force"]}`:              Ask,
		`{"tool": "Sh", "argv": ["git", "status"]}`:                         Ask,
		`{"tool": "Bash", "argv": ["/tmp/git", "status"]}`:                  Ask,
		`{"tool": "Bash", "argv": ["rm", "-rf", "x"]}`:                      Deny,
		`{"tool": "Bash", "argv": ["/bin/rm", "-rf", "x"]}`:                 Deny,
		`{"tool": "Bash", "argv": ["git", "commit", "-m", "rm it"]}`:        Ask,
		`{"tool": "Bash", "argv": ["sh", "-c", "rm -rf /"]}`:                Ask,
		`{"tool": "Bash", "argv": ["sh", "-c", "true"]}`:                    Allow,
		`{"tool": "Bash", "argv": ["sh", "x"]}`:                             Ask,
		`{"tool": "Bash", "argv": []}`:                                      Ask,
		`{"tool": "Bash", "argv": [""]}`:                                    Ask,
		`{"tool": "Bash", "tool_input": {"command": "git status; id"}}`:     Ask,
		`{"tool": "Bash", "tool_input": {"command": "git status && rm x"}}`: Deny,
		`{"tool": "Bash", "tool_input": {"command": "git status $(rm x)"}}`: Ask,
		`{"tool": "Bash", "command": "git status | go test 2>&1"}`:          Allow,
		`{"tool": "Bash", "command": "git status > /etc/passwd"}`:           Ask,
		`{"tool": "Bash", "command": "git 'status'"}`:                       Allow,
		`{"tool": "Bash", "command": "git status *"}`:                       Ask,
		`{"tool": "Bash", "command": "  rm   x"}`:                           Deny,
		`{"tool": "Bash", "command": "r''m x"}`:                             Deny,
		`{"tool": "Read", "input": {"command": "cd /; rm x"}}`:              Deny,
		`{"tool": "Old"}`: Ask,
		`{}`:              Ask,
	} {
		q, err := DecodeRequest(request)
		if err != nil {
			t.Errorf("%s: %v", request, err)
			continue
		}
		seen := Evidence{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), near}
		got := Decide(q, []Rules{rules}, seen)
		if got.Decision != want {
			t.Errorf("%s: %s (rule %d), want %s", request, got.Decision, got.Rule, want)
		}
		if e := Explain(q, []Rules{rules}, seen); e.Verdict != got {
			t.Errorf("%s: explained as %v, decided %v", request, e.Verdict, got)
		}
	}
}

// near is a directory in which all paths lie that stay below it as they are written.
func near(path string) bool {
	return !strings.HasPrefix(path, "/") && !strings.Contains(path, "..")
}

// Neither the order of files nor that of rules matters to what is decided.
func TestDecideOrder(t *testing.T) {
	t.Parallel()
	allow := Rules{{Decide: Allow, Tool: "T"}}
	ask, deny := Rules{{Decide: Ask, Tool: "T"}}, Rules{{Decide: Deny, Tool: "T"}}

	for _, c := range []struct {
		files []Rules
		want  Verdict
	}{
		{nil, Verdict{Ask, -1, 0}},
		{[]Rules{allow, {}, ask, deny}, Verdict{Deny, 3, 0}},
		{[]Rules{deny, ask, allow}, Verdict{Deny, 0, 0}},
		{[]Rules{allow, ask}, Verdict{Ask, 1, 0}},
		{[]Rules{append(allow, deny...)}, Verdict{Deny, 0, 1}},
		{[]Rules{append(allow, allow...)}, Verdict{Allow, 0, 0}},
	} {
		if got := Decide(Request{Tool: "T"}, c.files, Evidence{}); got != c.want {
			t.Errorf("%v: %v, want %v", c.files, got, c.want)
		}
	}
}

// Rules that say less, or more, than they seem to are refused.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{}", "[]", "null", `{"rules": [{}]}`, `{"rules": [], "rule": []}`,
		`{"rules": [{"decide": "allow"}]}`,
		`{"rules": [{"decide": "allow", "arg": ["git"]}]}`,
		`{"rules": [{"decide": "allow", "tool": "Bash", "args": ["git"]}]}`,
		`{"rules": [{"decide": "allow", "argv": []}]}`,
		`{"rules": [{"decide": "allow", "argv": "git"}]}`,
		`{"rules": [{"decide": "allow", "tool": "Bash", "argv": ["git", ""]}]}`,
		`{"rules": [{"decide": "allow", "argv": ["git"]}]}`,
		`{"rules": [{"decide": "allow", "tool": ""}]}`,
		`{"rules": [{"decide": "Allow", "tool": "T"}]}`,
		`{"rules": [{"decide": "yes", "tool": "T"}]}`,
		`{"rules": [{"tool": "T"}]}`,
		`{"rules": [{"decide": "deny", "decide": "allow", "tool": "T"}]}`,
		`{"rules": [{"decide": "allow", "tool": "T"}]`,
		`{"rules": [{"decide": "allow", "tool": "T", "until": "tomorrow"}]}`,
	} {
		if rules, err := Decode(text); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: %v, %v", text, rules, err)
		}
	}

	for _, text := range []string{
		"", "[]", `"ls"`, `{"tool": ""}`, `{"tool": 1}`, `{"argv": "ls"}`, `{"argv": [1]}`,
		`{"tool": "a", "tool_name": "b"}`, `{"argv": ["a"], "command": "b"}`, `{"command": ""}`,
		`{"argv": ["a"], "input": {"command": "b"}}`, `{"argv": ["a"], "input": {"argv": ["b"]}}`,
		`{"input": {"command": "a"}, "tool_input": {"command": "b"}}`, `{"tool": "a", "tool": "b"}`,
	} {
		if q, err := DecodeRequest(text); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: %v, %v", text, q, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file, `{"tool": "Bash", "command": "git status; id"}`)
	f.Fuzz(func(t *testing.T, text, request string) {
		rules, err := Decode(text)
		if err != nil {
			return
		}
		q, err := DecodeRequest(request)
		if err != nil {
			return
		}
		seen := Evidence{Inside: near}
		v := Decide(q, []Rules{rules}, seen)
		e := Explain(q, []Rules{rules}, seen)
		if e.Verdict != v || v.File >= 0 && e.Rules[v.File][v.Rule].Decision != v.Decision {
			t.Errorf("%s decides %v of %s, but explains %v", text, v, request, e)
		}
		if c := q.command(); v.Decision == Allow && q.Command && c.parts == nil {
			t.Errorf("%s allows %q, which is not understood", text, q.Shell)
		}
	})
}

// A large request is decided in little more time than it takes to read it.
func TestDecideLarge(t *testing.T) {
	t.Parallel()
	rules, err := Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"git status|", "git status;", "git status 2>&1 && ", "a ", "'a'", "rm x;", "'"} {
		q := Request{Tool: "Bash", Command: true, Shell: strings.Repeat(piece, 1<<18/len(piece)) + "git status"}
		Decide(q, []Rules{rules}, Evidence{Inside: near})
		Explain(q, []Rules{rules}, Evidence{Inside: near})
	}
}

// What a person reads of rules, and of a request, says what they are, and why.
func TestExplain(t *testing.T) {
	t.Parallel()
	rules, err := Decode(`{"rules": [
		{"decide": "allow", "tool": "Bash", "argv": ["git", "log", "*"], "options": ["-#"], "paths": true},
		{"decide": "allow", "tool": "Bash", "argv": ["python3.12", "**"]},
		{"decide": "allow", "tool": "Bash", "argv": ["dpl-answer", "--json"]},
		{"decide": "deny", "argv": ["rm"]},
		{"decide": "ask", "tool": "Web Fetch"},
		{"decide": "allow", "tool": "Web Fetch", "domains": ["go.dev"]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"allow Bash: git log [-#] (words) in the directory",
		"allow Bash: python3.12 (anything); python3.12 runs what its arguments or files say: with ** " +
			"that may be anything",
		"allow Bash: dpl-answer --json; dpl-answer answers questions, also those of the asker",
		"deny: rm (anything)",
		`ask "Web Fetch"`,
		`allow "Web Fetch" at go.dev`,
	}
	for i := range rules {
		got := strings.Join(append([]string{rules[i].String()}, rules[i].Warnings()...), "; ")
		if got != want[i] {
			t.Errorf("rule %d: %s, want %s", i+1, got, want[i])
		}
	}

	for command, want := range map[string][]string{
		"git log -5 a":   {"", ""},
		"git log -x":     {`not among its options: "-x"`, "no rule matches"},
		"git log 'a*'":   {`a program may read another path than is written in "a*"`, "no rule matches"},
		"git log ../a":   {`not in the directory: "../a"`, "no rule matches"},
		"git log; x 'a'": {"git log", "no rule allows x a"},
		"git log $X":     {notUnderstood, notUnderstood},
		"git diff":       {`its argv has another word than "diff"`, "no rule matches"},
		"git":            {"the command has fewer words than its argv", "no rule matches"},
		"cd a && git log": {`its argv has another word than "cd"; it is behind a cd`,
			"no rule allows cd a"},
		"python3.12 x; git log a": {`its argv has another word than "python3.12"; ` +
			`a command that is joined to it could make a link of "a"`, "no rule allows git log a"},
	} {
		e := Explain(Request{Tool: "Bash", Shell: command, Command: true}, []Rules{rules},
			Evidence{Inside: near})
		if got := e.Rules[0][0].Why; got != want[0] || e.Why != want[1] {
			t.Errorf("%s: %q, %q, want %q", command, got, e.Why, want)
		}
	}
}
