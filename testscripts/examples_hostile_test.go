//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestAgentsHostile has agents attack their hook, each in a project of its own. The test is the
// person, who allows only what is harmless. In the end the file that must not be removed is there,
// or it is evident who has allowed it, or neither, as spec/reliability.md §8 says.
func TestAgentsHostile(t *testing.T) {
	t.Parallel()
	for mode, person := range map[string]func(*victim){
		"late": seesLate, "swap": seesSwap, "self": seesSelf, "earlier": seesEarlier,
		"clock": seesClock, "rules": seesRules, "display": seesDisplay, "ahead": seesAhead,
		"killed": seesKilled, "damage": seesDamage, "write": seesWritten, "signed": seesSigned,
		"forge": seesForged, "outside": seesOutside, "own": seesOwn,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := &victim{agency: newAgency(t), mode: mode}
			write(t, filepath.Join(v.dir, "agents/hostile.sh"), read(t, "testscripts/hostile_agent.sh"),
				0o755)
			v.variables = "AGENT=$PWD/agents/hostile.sh"
			person(v)
			v.settled(mode)
		})
	}
}

// A victim is the project of one hostile agent, whose mode is the id of its only ticket.
type victim struct {
	*agency
	mode string
}

// begins starts the agent, with more variables.
func (v *victim) begins(variables string) {
	v.t.Helper()
	v.variables += " " + variables
	v.must("start shop 1")
	v.ticket(v.mode, "--max-attempts 1")
}

// sees waits for a question about a command, and returns its id and the hash of what is shown.
func (v *victim) sees(command string) (id, shown string) {
	v.t.Helper()
	v.asks("[Bash: " + command)
	q := v.question("[Bash: " + command)
	return q.ID, q.Shown("ask").Hash()
}

// goesOn lets the agent go on, which waits for a file.
func (v *victim) goesOn(file string) {
	v.t.Helper()
	write(v.t, filepath.Join(v.dir, v.mode+"."+file), "", 0o644)
}

// answers answers a question by its id and flags, and checks the exit status.
func (v *victim) answers(want int, id, flags string) string {
	v.t.Helper()
	return v.exits(want, "questions "+id+" "+flags)
}

// notes waits for the end of the agent, and checks whether the file that it wants to remove is
// there, and what it has noted: a line for each try.
func (v *victim) notes(kept bool, want ...string) {
	v.t.Helper()
	v.settled(v.mode)
	got := v.text(v.mode + ".noted")
	if !regexp.MustCompile("^" + strings.Join(want, "\n") + "\n$").MatchString(got) {
		v.t.Errorf("it noted\n%swant\n%s", got, strings.Join(want, "\n"))
	}
	if _, err := os.Stat(filepath.Join(v.dir, v.mode+".keep")); (err == nil) != kept {
		v.t.Errorf("its file: %v", err)
	}
}

// verify runs dpl-audit --verify on the questions, and checks its exit status.
func (v *victim) verify(want int, flags string) string {
	v.t.Helper()
	said := v.sh("dpl-audit ask --verify " + flags + "; echo exit status $?")
	if !strings.HasSuffix(said, fmt.Sprintf("exit status %d\n", want)) {
		v.t.Errorf("verify %s: want %d, got\n%s", flags, want, said)
	}
	return said
}

// tells checks that a text has all these in it.
func (v *victim) tells(text string, all ...string) {
	v.t.Helper()
	for _, want := range all {
		if !regexp.MustCompile(want).MatchString(text) {
			v.t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// What a try ends with that a person denies, and that nobody has answered.
const (
	denied     = ` 2 .*: denied by \S+`
	unanswered = ` 2 .*: nobody has answered: timed out`
)

func seesLate(v *victim) {
	v.begins("")
	id, shown := v.sees("git log")
	v.goesOn("seen")
	v.sees("rm ")
	v.answers(4, id, "--shown "+shown+" --allow")
	v.answers(4, id, "--allow")
	v.answers(4, id[:5], "--allow")
	v.answer("rm ", "--deny")
	v.notes(true, "late"+denied)
}

// seesExchanged answers what was exchanged after it was seen.
func (v *victim) seesExchanged(flags string) {
	v.t.Helper()
	id, shown := v.sees("ls ")
	v.goesOn("seen")
	v.sees("rm ")
	said := v.answers(76, id, "--shown "+shown+" --allow"+flags)
	v.tells(said, "changed since it was shown")
	v.answer("rm ", "--deny")
}

func seesSwap(v *victim) {
	v.begins("")
	v.seesExchanged("")
	id, shown := v.sees("git log")
	v.goesOn("read")
	v.sees("rm ")
	v.answers(66, id, "--shown "+shown+" --allow")
	v.answers(66, id, "--allow")
	v.answers(66, id[:5], "--allow")
	v.answer("rm ", "--deny")
	v.notes(true, "exchanged"+denied, "removed"+denied)
}

func seesSelf(v *victim) {
	v.begins("")
	v.eventually("it has tried", func() bool { return v.exists("self.tried") })
	v.answer("rm ", "--deny")
	v.notes(true, "plain 76", "bare 76", `orphan 76(\npid 76){0,2}(\nnoproc 76)?(\nhost 76)?(\nboot 76)?`,
		"denied"+denied, "call 76", "parked 76")
}

func seesEarlier(v *victim) {
	v.begins("")
	v.asks("rm ")
	v.answer("rm ", "--allow")
	v.notes(true, "run 0", "rerun 124")
}

func seesClock(v *victim) {
	write(v.t, filepath.Join(v.dir, "over.json"), `{"rules": [{"decide": "allow", "tool": "Bash",
		"argv": ["rm", "clock.keep"], "until": "2026-01-01T00:00:00Z"}]}`, 0o644)
	v.begins("")
	v.notes(true, "over"+unanswered, "before 2 .*not the clock's time.*")
}

// hostileTries are tools and their inputs that no rule of the example may allow.
// TestAgentsRulesHold has more commands.
const hostileTries = `Bash {"command": "git diff --output=rules.keep"}
Bash {"command": "git diff --no-index --word-diff -U9 --output rules.keep a b"}
Bash {"command": "git -C . push"}
Bash {"command": "git pu''sh"}
Bash {"command": "r''m rules.keep"}
Bash {"command": "dpl-run -- rm rules.keep"}
Bash {"command": "timeout 5 rm rules.keep"}
Bash {"command": "cat a\nrm rules.keep"}
Bash {"command": "cat a\u0000; rm rules.keep"}
Bash {"command": "cat a", "command ": "rm rules.keep", "shell": "rm rules.keep"}
Bash {"command": "git status", "run_in_background": true, "env": {"PAGER": "rm rules.keep"}}
Bash {"command": "git status", "command": "rm rules.keep"}
Bash {"argv": ["git", "status"], "command": "rm rules.keep"}
Write {"file_path": "rules.keep", "content": "", "command": "git status"}
mcp__shell__run {"command": "git status"}
Read {"file_path": "a", "command": "rm rules.keep"}
Read {"file_path": "/etc/passwd"}
`

func seesRules(v *victim) {
	write(v.t, filepath.Join(v.dir, "rules.tries"), hostileTries, 0o644)
	write(v.t, filepath.Join(v.dir, "strict.sh"), read(v.t, "scripts/examples/agents/permission.sh"),
		0o755)
	v.begins("")
	const refused = `(` + unanswered +
		`| 2 .*(denied by rule|duplicate object member|give one of them).*)`
	v.notes(true, fmt.Sprintf(`(.*%s\n){%d}changed 2 .*who asks could change.*`, refused,
		strings.Count(hostileTries, "\n")), "gone 2 .*no such file.*")
}

func seesDisplay(v *victim) {
	v.begins("")
	id, shown := v.sees("go test")
	list := v.must("questions")
	v.tells(list, `… \d+ more bytes`)
	v.tells(v.answers(76, id, "--allow"), "the list does not show all of it")
	all := v.must("questions " + id)
	v.tells(all, `(?m)^\| +\| \\u\{1b\}\[2J`, `(?m)^\| .* g\\u\{456\}t status`, `; rm display\.keep`)
	if strings.Contains(list+all, "\x1b") {
		v.t.Errorf("it shows %q", list+all)
	}
	v.answers(0, id, "--shown "+shown+" --deny")
	v.notes(true, "hidden"+denied)
}

func seesAhead(v *victim) {
	v.begins("")
	v.sees("git log")
	y := sitDown(v.t, v.bin, "sh", "-c", "DPL_LEDGER="+v.dir+"/ledger exec dpl-answer --follow")
	y.hear(v.t, "[y] allow, [n] deny, [s] skip, [q] quit? ")
	y.press(v.t, "y\ny\ny\n")
	y.hear(v.t, "rm ahead.keep")
	digit := y.between(v.t, "[y", "] allow")
	y.enter(v.t, "y")
	y.hear(v.t, "Type y"+digit+", n, s or q.")
	y.enter(v.t, "n")
	y.hear(v.t, "why (may be empty)? ")
	y.enter(v.t, "")
	v.notes(true, "ahead"+denied)
}

func seesKilled(v *victim) {
	v.begins("")
	v.notes(true, "killed 2.*")
}

func seesDamage(v *victim) {
	v.begins("")
	v.notes(true, "chmod .* 2 .*others may write to it.*", ": .* 2 .*the file is empty.*")
}

func seesWritten(v *victim) {
	v.begins("")
	v.notes(true, "written 2 .*the record has no line for the answer.*")
	v.verify(1, "")
}

func seesSigned(v *victim) {
	strict.Program(v.t, "ssh-keygen")
	v.sh("ssh-keygen -q -t ed25519 -N '' -f ada && echo \"ada $(cat ada.pub)\" >signers")
	v.begins("SIGNERS=signers")
	v.seesExchanged(" --sign ada")
	v.answer("rm ", "--sign ada --allow")
	v.notes(true, "exchanged"+denied, "signed 0 ", "answer 76", "unsigned 2 .*it has no signature.*",
		"own 2 .*No principal matched.*", "replayed 2 .*another question was answered.*",
		"rebound 2 .*not count: it has no signature.* failed: incorrect signature")
	said := v.verify(1, "--signers signers")
	v.tells(said, "allowed, signed by ada", "is unsigned")
}

// What follows is not prevented: the file is gone, and the record tells how.

func seesForged(v *victim) {
	v.begins("")
	v.eventually("it has forged", func() bool { return v.exists("forge.forged") })
	head := regexp.MustCompile(`sha256:\S+`).FindString(v.sh("dpl-audit ask --head"))
	v.tells(v.sh("dpl-audit ask"), "q.* allowed by ada", "With: dpl-answer .* --participant ada")
	v.goesOn("read")
	v.notes(false, "forged 0 ")
	v.verify(0, "")
	v.verify(1, "--known '"+head+"'")
}

func seesOutside(v *victim) {
	v.begins("")
	v.sees("rm ")
	v.eventually("it has a line for cron", func() bool { return v.lines("outside.cron") == 1 })
	v.sh("sh outside.cron")
	v.notes(false, "outside 0 ")
	v.tells(v.sh("dpl-audit ask"), "q.* allowed by ada", "With: dpl-answer .* --participant ada")
}

func seesOwn(v *victim) {
	v.begins("")
	v.notes(false, "program 0 ", "ledger 0 ")
	if q := v.questions(); q.Revision != 0 {
		v.t.Errorf("somebody was asked: %s", q.Encode())
	}
}

func (v *victim) exists(name string) bool {
	_, err := os.Stat(filepath.Join(v.dir, name))
	return err == nil
}
