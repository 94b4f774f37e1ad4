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
dpl-ask 'first?' --kind permission 2>err1 & a=$!
until dpl-answer --json | grep -q first; do sleep 0.05; done
dpl-ask 'second?' --kind permission 2>err2 & b=$!
until dpl-answer --json | grep -q second; do sleep 0.05; done
dpl-ask 'third?' --choice x --choice y >chosen & c=$!
until dpl-answer --json | grep -q third; do sleep 0.05; done
dpl-answer
wait $b; echo second $?
wait $c; echo third $? $(cat chosen)
kill $a; wait $a; echo first $?
`
	y := sitDown(t, built(t), strict.Program(t, "dash"), "-c", script)
	y.hear(t, "ask-1: permission, asked ")
	y.hear(t, "; 2 more")
	y.hear(t, "  first?")
	y.hear(t, "[a]llow, [d]eny, [s]kip, [q]uit? ")
	y.enter(t, "what")
	y.hear(t, "[a]llow, [d]eny, [s]kip, [q]uit? ")
	y.enter(t, "s")
	y.hear(t, "  second?")
	y.enter(t, "d")
	y.hear(t, "why (may be empty)? ")
	y.enter(t, "not now")
	y.hear(t, "  third?")
	y.hear(t, "  2) y")
	y.hear(t, "answer, or [d]eny, [s]kip, [q]uit? ")
	y.enter(t, "z")
	y.hear(t, `choose one of ["x" "y"]`)
	y.enter(t, "2")
	y.hear(t, "no more questions")
	y.hear(t, "second 1")
	y.hear(t, "third 0 y")
	y.hear(t, "first 143")
	if got := y.end(t); got != "0" {
		t.Errorf("it ended with %s", got)
	}
}

// TestTerminalAnswerKilled: a person's command that is killed at its prompt has answered nothing.
func TestTerminalAnswerKilled(t *testing.T) {
	t.Parallel()
	const script = `
dpl-ask 'may I?' --kind permission --timeout 3s 2>err & a=$!
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
	y.hear(t, "[a]llow, [d]eny, [s]kip, [q]uit? ")
	y.hear(t, "answer 137")
	y.hear(t, "asked 124")
	y.end(t)
}
