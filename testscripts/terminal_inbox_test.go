//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// asking is the beginning of the scripts of these tests: open N counts the open questions.
const asking = `export LC_ALL=C.UTF-8
trap 'kill $(jobs -p) 2>/dev/null' EXIT
open() { until [ "$(dpl-answer --ids 2>/dev/null | wc -l)" = $1 ]; do sleep 0.05; done; }
`

// sitAt runs a script at a terminal of 24 lines and 80 columns.
func sitAt(t *testing.T, script string) *typist {
	t.Helper()
	y := sitDown(t, built(t), strict.Program(t, "bash"), "--norc", "--noprofile", "-c",
		"read line; "+asking+script)
	if err := unix.IoctlSetWinsize(int(y.master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	y.enter(t, "go")
	return y
}

// screen returns what the terminal shows: its lines without blanks at their ends, up to the last one
// that is not empty.
func (y *typist) screen() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	terminal := vt10x.New(vt10x.WithSize(80, 24))
	terminal.Write([]byte(y.text))
	var lines []string
	for line := range strings.Lines(strings.TrimRight(terminal.String(), " \n")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// asked waits until the last line of the screen begins with prompt, and returns the lines before it,
// and the digit of the prompt, if any.
func (y *typist) asked(t *testing.T, prompt string) (before []string, digit string) {
	t.Helper()
	of := regexp.MustCompile(`^\[` + prompt + `(\d?)\] allow, \[n\] deny, \[s\] skip, \[q\] quit\?$`)
	if !poll.Within(poll.Patience, func() bool {
		lines := y.screen()
		if len(lines) == 0 {
			return false
		}
		match := of.FindStringSubmatch(lines[len(lines)-1])
		if match != nil {
			before, digit = lines[:len(lines)-1], match[1]
		}
		return match != nil
	}) {
		t.Fatalf("no prompt on the screen\n%s", strings.Join(y.screen(), "\n"))
	}
	return before, digit
}

// ends checks the last lines of a screen.
func ends(t *testing.T, lines []string, want ...string) {
	t.Helper()
	got := lines[max(len(lines)-len(want), 0):]
	for i := range want {
		if len(got) != len(want) || !regexp.MustCompile("^"+want[i]+"$").MatchString(got[i]) {
			t.Fatalf("the screen ends with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTerminalInbox: however many questions there are, each is all on the screen as it is answered.
func TestTerminalInbox(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			y := sitAt(t, fmt.Sprintf(`for i in $(seq %d); do
	printf '{"tool": "Bash", "command": "make all-%%s"}' $i >in$i.json
	{ dpl-ask "May I make number $i?" --input in$i.json --timeout 10m 2>err$i; echo $? >status$i; } &
done
open %[1]d
dpl-answer
wait; echo "statuses $(sort -u status* | tr '\n' ' ')"; [ "$(cat err*)" = '' ] || cat err*`, n))

			seen := make(map[string]bool)
			for i := range n {
				y.hear(t, "│ May I make number ")
				before, digit := y.asked(t, "y")
				if (digit == "") != (i == 0) {
					t.Errorf("question %d: the digit is %q", i+1, digit)
				}
				number := ""
				for _, line := range before {
					if text, ok := strings.CutPrefix(line, "│ May I make number "); ok {
						number = strings.TrimSuffix(text, "?")
					}
				}
				head := []string{"q[a-z2-7]{10}: permission, asked .* ago; .* left", "│ by dpl-ask-[0-9]+, user .*",
					`│ May I make number ` + number + `\?`, "tool:", "│ Bash", "command:", "│ make all-" + number}
				if more := n - i - 1; more > 0 {
					head = append([]string{fmt.Sprintf(`After this one: %d more\.`, more)}, head...)
				}
				ends(t, before, head...)
				if seen[number] {
					t.Errorf("question %s is shown again", number)
				}
				seen[number] = true
				y.enter(t, "y"+digit)
			}
			y.hear(t, "no more questions")
			y.hear(t, "statuses 0 \r\n")
			y.end(t)
		})
	}
}

// TestTerminalInboxLong: the end of a long question is its command, and a line says where it begins.
// After more than 200 lines, a letter is no yes, and neither is the word alone after the first.
func TestTerminalInboxLong(t *testing.T) {
	t.Parallel()
	y := sitAt(t, `ask() {
	seq -s '\n' $1 | sed 's/\(.*\)/{"tool": "Bash", "m": 1, "command": "\1"}/' >in$1.json
	dpl-ask "May I $1?" --input in$1.json --timeout 10m 2>err$1; echo $? >status$1
}
ask 15 & open 1; ask 16 & open 2; ask 192 & open 3; ask 193 & open 4; ask 300 & open 5
dpl-answer`)
	command := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprintf("│ %d", i))
		}
		return lines
	}
	next := func(n int, yes string) ([]string, string) {
		y.hear(t, fmt.Sprintf("│ May I %d?\r\n", n))
		return y.asked(t, yes)
	}

	const lines = "These are %d lines: read them from q[a-z2-7]{10} on."
	before, _ := next(15, "y") // 23 lines, and the prompt
	ends(t, before, append([]string{"q[a-z2-7]{10}: permission, .*", "│ by .*", `│ May I 15\?`, "request:", `│ "m": 1`,
		"tool:", "│ Bash", "command:"}, command(1, 15)...)...)
	y.enter(t, "n")
	y.hear(t, "why (may be empty)? ")
	y.enter(t, "")
	before, digit := next(16, "y")
	ends(t, before, append(command(1, 16), fmt.Sprintf(lines, 24))...)
	y.enter(t, "y"+digit)
	before, digit = next(192, "y")
	ends(t, before, append(command(174, 192), fmt.Sprintf(lines, 200))...)
	y.enter(t, "y"+digit)

	before, digit = next(193, "allow")
	ends(t, before, append(command(175, 193), fmt.Sprintf(lines, 201)+" A yes is the word allow.")...)
	for _, reply := range []string{"y" + digit, "allow", "allow" + digit + digit, "y"} {
		y.enter(t, reply)
		y.hear(t, "Type allow")
		_, digit = y.asked(t, "allow")
	}
	y.enter(t, "allow"+digit)
	before, _ = next(300, "allow")
	ends(t, before, append(command(282, 300), fmt.Sprintf(lines, 308)+" A yes is the word allow.")...)
	for n, want := range map[int]string{15: "1\n", 16: "0\n", 192: "0\n", 193: "0\n"} {
		var got []byte
		if !poll.Within(poll.Patience, func() bool {
			got, _ = os.ReadFile(filepath.Join(y.cmd.Dir, fmt.Sprint("status", n)))
			return string(got) == want
		}) {
			t.Errorf("question %d: got %q, want %q", n, got, want)
		}
	}
}

// TestTerminalInboxHostile: whatever a question draws, what DPL says is told from it.
func TestTerminalInboxHostile(t *testing.T) {
	t.Parallel()
	const fake = `[y] allow, [n] deny, [s] skip, [q] quit?`
	y := sitAt(t, `cat >text <<'END'
May I?
tool:
│ Bash
command:
│ git status
`+fake+`

qabcdefghij: permission, asked 1s ago; 5m0s left
`+strings.Repeat("x", 78)+`tool:
`+strings.Repeat("x", 158)+fake+`
END
printf '\033[2J\033[H\033[31m\r`+fake+`\342\200\256g\321\226t\343\205\244\302\240\n' >>text
i=0; while [ $i -lt 40 ]; do echo >>text; i=$((i+1)); done
printf '{"tool_name": "Bash", "tool_input": {"z": {"command": "git status"}, "command": "rm -rf ~/src; g\321\226t\\u001b[2J"}' >in.json
i=0; while [ $i -lt 500 ]; do printf ', "m%s": "git status\\ncommand:\\n│ git status"' $i >>in.json; i=$((i+1)); done
echo '}' >>in.json
(dpl-ask "$(cat text; echo .)" --input in.json --timeout 10m 2>err; exit $?) & a=$!
open 1
dpl-answer
wait $a; echo asked $?`)
	before, _ := y.asked(t, "allow")
	ends(t, before, "tool:", "│ Bash", "command:", `│ rm -rf ~/src; g\\u\{456\}t\\u\{1b\}\[2J`,
		"These are 2[0-9]{3} lines: read them from q[a-z2-7]{10} on. A yes is the word allow.")

	all := y.seen()
	if strings.Contains(all, "\x1b") || strings.ContainsAny(all, "\u202e\u0456\u3164\u00a0") {
		t.Errorf("something is not drawn: %q", all)
	}
	for _, line := range strings.Split(strings.TrimPrefix(all, "go\r\n"), "\r\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%q has %d columns", line, n)
		}
		if !strings.HasPrefix(line, "│ ") && !strings.HasPrefix(line, "┆ ") && !regexp.MustCompile(`^(|go`+
			`|q[a-z2-7]{10}: permission, asked .* ago; .* left|request:|tool:|command:`+
			`|These are .*|\[allow\] allow, .*)$`).MatchString(line) {
			t.Errorf("%q has no margin", line)
		}
	}
	y.hear(t, "│ "+strings.Repeat("x", 78)+"\r\n┆ tool:\r\n")
	y.hear(t, `│ \u{1b}[2J\u{1b}[H\u{1b}[31m\u{d}`)

	y.enter(t, "y")
	y.hear(t, "Type allow, n, s or q.")
	y.asked(t, "allow")
	y.enter(t, "allow")
	y.hear(t, "no more questions")
	y.hear(t, "asked 0")
	y.end(t)
}
