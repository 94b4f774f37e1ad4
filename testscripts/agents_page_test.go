//go:build linux

package testscripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
)

// hostScript stands in for the host of an agent: it obeys the hooks of .claude/settings.json.
const hostScript = `#!/bin/sh
hook() { sed -n "/\"$1\"/,/]/s/.*\"command\": \"\([^\"]*\)\".*/\1/p" .claude/settings.json; }
for prompt; do :; done
echo "$prompt"
echo '{"tool_name": "Bash", "tool_input": {"command": "touch manual.txt"}}' | "$(hook PreToolUse)"
status=$?
case $status in
2) echo blocked ;;
*) touch "$DPL_TASK.used" manual.txt ;;
esac
"$(hook Stop)"
echo "Stop: $?"
`

// TestAgentsPage runs the blocks of spec/agents.md in order, with a host that stands in for an
// agent's.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := strings.ReplaceAll(read(t, "spec/agents.md"), "/usr/local/share/dpl/examples", a.dir)
	if err := os.Mkdir(filepath.Join(a.dir, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(a.dir, "tools/claude"), hostScript, 0o755)
	path := "set -e\nPATH=" + a.dir + "/agents:$PATH\n"
	shell := func(heading string) string { return fenced(t, section(t, page, heading), "sh") }

	a.sh("set -e\n" + shell("Your agent"))
	a.sh("set -e\n" + shell("Start, and add tickets"))
	line := fenced(t, section(t, page, "Start, and add tickets"), "crontab")
	a.sh(regexp.MustCompile(`^(\S+ ){5}`).ReplaceAllString(line, ""))
	a.asks("at parser [Bash: touch manual.txt]")
	agent := a.queue("shop").Task("parser").Claim.Participant
	a.sh(path + strings.ReplaceAll(shell("Messages"), "shop-1", agent))

	// The first ticket's tool is allowed, and the second one's denied; then its check fails.
	commands := strings.Split(shell("Permissions and questions"), "\n")
	for i, command := range commands {
		switch {
		case strings.Contains(command, "--follow"): // for a terminal
		case strings.Contains(command, "ID --deny"):
			a.settled("parser")
			os.Remove(filepath.Join(a.dir, "manual.txt"))
			a.asks("at manual")
			a.sh(named(command, a.open()[0]))
		case strings.Contains(command, "ID --shown HASH --allow"):
			a.sh(named(command, a.open()[0]))
		case i == 0:
			a.sh(command)
		}
	}
	a.answer("at manual", "--allow")
	a.settled("manual")
	logs := strings.Join(a.logs("*"), "\n")
	for _, want := range []string{"Do this ticket: {\"text\":\"Mend the parser\"}", "blocked\n",
		"denied by .*: use the test database\n", "The last attempt failed: rejected: files manual.txt",
		"The tests are in t/", "Stop: 2\n"} {
		if !regexp.MustCompile(want).MatchString(logs) {
			t.Errorf("want %q in\n%s", want, logs)
		}
	}
	if q := a.queue("shop"); q.Counters.Done != 2 {
		t.Errorf("%d tickets are done: %s", q.Counters.Done, q.Encode())
	}

	a.sh(path + shell("Stop"))
	if out := a.must("status shop"); a.running() != 0 || strings.Contains(out, "shop-3") {
		t.Errorf("in the end:\n%s", out)
	}
}

// named returns a command of the page about the question q.
func named(command string, q *queue.Task) string {
	return strings.NewReplacer("ID", q.ID, "HASH", q.Shown("ask").Hash()).Replace(command)
}

// TestAgentsRules checks that the page shows the rules of the example, and that what is wrong with
// the hook, such as rules that the agent could change, is no.
func TestAgentsRules(t *testing.T) {
	t.Parallel()
	page := read(t, "spec/agents.md")
	var shown, written any
	if json.Unmarshal([]byte(fenced(t, page, "json")), &shown) != nil ||
		json.Unmarshal([]byte(read(t, "scripts/examples/agents/rules.json")), &written) != nil {
		t.Fatal("the rules are no JSON")
	}
	if !reflect.DeepEqual(shown, written) {
		t.Errorf("the page says %v, rules.json %v", shown, written)
	}

	a := newAgency(t)
	strict := read(t, "scripts/examples/agents/permission.sh")
	write(t, filepath.Join(a.dir, "strict.sh"), strict, 0o755)
	const ask = `echo '{"tool_name": "Read"}' | RULES=agents/rules.json `
	said := a.sh(ask + "agents/permission.sh")
	if !strings.Contains(said, `"permissionDecision": "allow"`) {
		t.Errorf("a rule allows it: %s", said)
	}
	for hook, want := range map[string]string{
		"./strict.sh": "who asks could change",
		"PATH=/usr/bin:/bin agents/permission.sh":   "dpl-ask",
		"RULES=none.json agents/permission.sh":      "none.json",
		"PERMISSION=soon agents/permission.sh":      "timeout",
		"DPL_LEDGER=/dev/null agents/permission.sh": "/dev/null",
	} {
		said := a.sh(ask + hook + "; [ $? = 2 ] && echo it is blocked")
		if !strings.Contains(said, want) || !strings.HasSuffix(said, "it is blocked\n") {
			t.Errorf("%s: want %q, said %s", hook, want, said)
		}
	}
}

// TestAgentsHook: a yes counts only with a signature, if the hook wants one; and dpl-ask that is
// killed is no.
func TestAgentsHook(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	const ask = `echo '{"tool_name": "Write"}' | `
	write(t, filepath.Join(a.dir, "signers"), "ada ssh-ed25519 AAAA\n", 0o644)
	blocked := func(hook *exec.Cmd) {
		t.Helper()
		if hook.Wait(); hook.ProcessState.ExitCode() != 2 {
			t.Errorf("the hook exits %d, want 2", hook.ProcessState.ExitCode())
		}
	}

	hook := a.start(ask + "SIGNERS=signers agents/permission.sh")
	a.asks("an agent at no ticket [Write")
	q := a.open()[0]
	said := a.exits(76, "questions "+q.ID+" --shown "+q.Shown("ask").Hash()+" --allow")
	if !strings.Contains(said, "only a signed yes counts") {
		t.Errorf("said %s", said)
	}
	a.answer("an agent at no ticket [Write", "--deny")
	blocked(hook)

	hook = a.start(ask + "agents/permission.sh")
	a.asks("an agent at no ticket [Write")
	syscall.Kill(a.open()[0].Ask.Askers[0].PID, syscall.SIGKILL)
	blocked(hook)
}
