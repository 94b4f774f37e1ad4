package question

import (
	"errors"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

const file = `{"rules": [
	{"decide": "allow", "tool": "Bash", "argv": ["git"]},
	{"decide": "allow", "argv": ["go", "test"]},
	{"decide": "ask", "argv": ["git", "push"]},
	{"decide": "deny", "argv": ["rm"], "reason": "use trash"},
	{"decide": "allow", "tool": "Read"},
	{"decide": "allow", "argv": ["sh"]},
	{"decide": "allow", "argv": ["sh", "-c", "true"]},
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
		`{"tool_name": "Bash", "tool_input": {"command": "git status"}}`:    Allow,
		`{"tool": "Read", "input": {"path": "/etc/passwd"}}`:                Allow,
		`{"tool": "Bash", "argv": ["go", "test", "./..."]}`:                 Allow,
		`{"tool": "Bash", "argv": ["go", "run", "."]}`:                      Ask,
		`{"tool": "Bash", "argv": ["git", "push", "--force"]}`:              Ask,
		`{"tool": "Sh", "argv": ["git", "status"]}`:                         Ask,
		`{"tool": "Bash", "argv": ["gitk"]}`:                                Ask,
		`{"tool": "Bash", "argv": ["/tmp/git", "status"]}`:                  Ask,
		`{"tool": "Bash", "argv": ["rm", "-rf", "x"]}`:                      Deny,
		`{"tool": "Bash", "argv": ["/bin/rm", "-rf", "x"]}`:                 Deny,
		`{"tool": "Bash", "argv": ["git", "commit", "-m", "rm it"]}`:        Ask,
		`{"tool": "Bash", "argv": ["sh", "-c", "rm -rf /"]}`:                Ask,
		`{"tool": "Bash", "argv": ["sh", "-c", "true"]}`:                    Allow,
		`{"tool": "Bash", "argv": ["sh", "x"]}`:                             Ask,
		`{"tool": "Bash", "argv": ["sh"]}`:                                  Allow,
		`{"tool": "Bash", "argv": []}`:                                      Ask,
		`{"tool": "Bash", "argv": [""]}`:                                    Ask,
		`{"tool": "Bash", "tool_input": {"command": "git status; id"}}`:     Ask,
		`{"tool": "Bash", "tool_input": {"command": "git status && rm x"}}`: Ask,
		`{"tool": "Bash", "tool_input": {"command": "git $(id)"}}`:          Ask,
		"{\"tool\": \"Bash\", \"command\": \"git `id`\"}":                   Ask,
		`{"tool": "Bash", "command": "git status\nid"}`:                     Ask,
		`{"tool": "Bash", "command": "git status | sh"}`:                    Ask,
		`{"tool": "Bash", "command": "git status > /etc/passwd"}`:           Ask,
		`{"tool": "Bash", "command": "git 'status'"}`:                       Ask,
		`{"tool": "Bash", "command": "git *"}`:                              Ask,
		`{"tool": "Bash", "command": "X=1 git status"}`:                     Ask,
		`{"tool": "Bash", "command": "git\tstatus"}`:                        Ask,
		`{"tool": "Bash", "command": "git\u00a0status"}`:                    Ask,
		`{"tool": "Bash", "command": "\u0000git status"}`:                   Ask,
		`{"tool": "Bash", "command": "rm x"}`:                               Deny,
		`{"tool": "Bash", "command": "  rm   x"}`:                           Deny,
		`{"tool": "Bash", "command": "r''m x"}`:                             Ask,
		`{"tool": "Read", "input": {"command": "cd /; rm x"}}`:              Ask,
		`{"tool": "Old"}`: Ask,
		`{}`:              Ask,
	} {
		q, err := DecodeRequest(request)
		if err != nil {
			t.Errorf("%s: %v", request, err)
			continue
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if got := Decide(q, []Rules{rules}, now); got.Decision != want {
			t.Errorf("%s: %s (rule %d), want %s", request, got.Decision, got.Rule, want)
		}
	}
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
		if got := Decide(Request{Tool: "T"}, c.files, time.Time{}); got != c.want {
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
		`{"rules": [{"decide": "allow", "argv": ["git", ""]}]}`,
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
		if v := Decide(q, []Rules{rules}, time.Time{}); v.Decision == Allow {
			rule := rules[v.Rule]
			if rule.Argv != nil && q.Argv == nil && !onlyWords(q.Shell) {
				t.Errorf("%s allows %q", text, q.Shell)
			}
		}
	})
}

func onlyWords(shell string) bool {
	for _, r := range shell {
		if !plain(r) && r != ' ' {
			return false
		}
	}
	return true
}
