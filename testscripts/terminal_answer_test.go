//go:build linux

package testscripts

import (
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestTerminalAnswer answers questions by letters, as a person does: one is skipped, one denied,
// one allowed that came meanwhile, and a text is chosen by its number.
func TestTerminalAnswer(t *testing.T) {
	t.Parallel()
	const script = `
dpl-ask 'first?' 2>err1 & a=$!
until dpl-answer --json | grep -q first; do sleep 0.05; done
(dpl-ask 'second?' 2>err2; exit $?) & b=$!
until dpl-answer --json | grep -q second; do sleep 0.05; done
(dpl-ask 'third?' --choice x --choice y >chosen; exit $?) & c=$!
until dpl-answer --json | grep -q third; do sleep 0.05; done
dpl-answer
wait $b; echo second $?
wait $c; echo third $? $(cat chosen)
kill $a; wait $a; echo first $?
`
	y := sitDown(t, built(t), strict.Program(t, "dash"), "-c", script)
	y.hear(t, "After this one: 2 more.")
	y.hear(t, ": permission, asked ")
	y.hear(t, "| first?")
	y.hear(t, "[y] allow, [n] deny, [s] skip, [q] quit? ")
	y.enter(t, "what")
	y.hear(t, "Type y, n, s or q.")
	y.hear(t, "[y] allow, [n] deny, [s] skip, [q] quit? ")
	y.enter(t, "s")
	y.hear(t, "| second?")
	y.hear(t, "] allow, [n] deny, [s] skip, [q] quit? ")
	y.enter(t, "n")
	y.hear(t, "why (may be empty)? ")
	y.enter(t, "not now")
	y.hear(t, "| third?")
	y.hear(t, "| 2) y")
	y.hear(t, "answer, or /deny, /skip, /quit? ")
	y.enter(t, "z")
	y.hear(t, "or its number from 1 to 2")
	y.hear(t, "answer, or /deny, /skip, /quit? ")
	y.enter(t, "2")
	y.enter(t, y.between(t, "type ", " to give this answer? "))
	y.hear(t, "no more questions")
	y.hear(t, "second 1")
	y.hear(t, "third 0 y")
	y.hear(t, "first 143")
	if got := y.end(t); got != "0" {
		t.Errorf("it ended with %s", got)
	}
}

// TestTerminalAnswerAhead: what was typed for one question, once too often, is no yes to another
// one, whether it is typed before that is shown, or a moment later.
func TestTerminalAnswerAhead(t *testing.T) {
	t.Parallel()
	const script = `
(dpl-ask 'first?' 2>err1; exit $?) & a=$!
until dpl-answer --json | grep -q first; do sleep 0.05; done
(dpl-ask 'second?' 2>err2; exit $?) & b=$!
until dpl-answer --json | grep -q second; do sleep 0.05; done
(dpl-ask 'third?' --kind question >answer; exit $?) & c=$!
until dpl-answer --json | grep -q third; do sleep 0.05; done
dpl-answer
wait $a; echo first $?
wait $b; echo second $?
wait $c; echo third $? $(cat answer)
`
	y := sitDown(t, built(t), strict.Program(t, "dash"), "-c", script)
	y.hear(t, "[y] allow, [n] deny, [s] skip, [q] quit? ")
	y.press(t, "y\ny\ny\n")
	y.hear(t, "| second?")
	digit := y.between(t, "[y", "] allow")
	y.enter(t, "y")
	y.hear(t, "Type y"+digit+", n, s or q.")
	again := y.between(t, "[y", "] allow")
	y.enter(t, "y"+again)
	y.hear(t, "| third?")
	y.hear(t, "answer, or /deny, /skip, /quit? ")
	y.enter(t, "y")
	y.hear(t, "type ")
	y.enter(t, "y")
	y.hear(t, "answer, or /deny, /skip, /quit? ")
	y.enter(t, "/deny")
	y.hear(t, "why (may be empty)? ")
	y.enter(t, "")
	y.hear(t, "first 0")
	y.hear(t, "second 0")
	y.hear(t, "third 1")
	y.end(t)
}

// TestTerminalAnswerShown: an answer on the command line of a terminal is given to what is drawn
// there, and a script gives none to what the list does not show.
func TestTerminalAnswerShown(t *testing.T) {
	t.Parallel()
	const script = `
printf '{"tool": "Bash", "argv": ["rm", "x"], "more": "than the list shows"}' >in.json
(dpl-ask 'may I?' --input in.json 2>err; exit $?) & a=$!
until q=$(dpl-answer --ids 2>/dev/null | grep q); do sleep 0.05; done
dpl-answer $q --allow </dev/null; echo script $?
dpl-answer $q --allow; echo no $?
dpl-answer $q --allow; echo yes $?
wait $a; echo asked $?
`
	y := sitDown(t, built(t), strict.Program(t, "dash"), "-c", script)
	y.hear(t, "the list does not show all of it")
	y.hear(t, "script 76")
	y.hear(t, "than the list shows")
	y.hear(t, "allow it? [y] yes, [n] no: ")
	y.enter(t, "n")
	y.hear(t, "it is not answered")
	y.hear(t, "no 1")
	y.hear(t, "allow it? [y] yes, [n] no: ")
	y.enter(t, "y")
	y.hear(t, "yes 0")
	y.hear(t, "asked 0")
	y.end(t)
}

// TestTerminalAnswerKilled: a person's command that is killed at its prompt has answered nothing.
func TestTerminalAnswerKilled(t *testing.T) {
	t.Parallel()
	const script = `
(dpl-ask 'may I?' --timeout 3s 2>err; exit $?) & a=$!
until dpl-answer --json | grep -q may; do sleep 0.05; done
(
	sleep 1
	for stat in /proc/[0-9]*/stat; do
		read -r pid name state parent rest <$stat || continue
		[ "$name $parent" != "(dpl-answer) $$" ] || kill -KILL $pid
	done 2>/dev/null
) & dpl-answer; echo answer $?
wait $a; echo asked $?
`
	y := sitDown(t, built(t), filepath.Join("/bin", "sh"), "-c", script)
	y.hear(t, "[y] allow, [n] deny, [s] skip, [q] quit? ")
	y.hear(t, "answer 137")
	y.hear(t, "asked 124")
	y.end(t)
}
