package play

import (
	"strings"
	"testing"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/dpl-project/dpl/scripts/pictures/scene"
)

// Whatever pids and ages there are, and however wide they make a table, the picture is the same.
func TestSettle(t *testing.T) {
	const want = `
build: running for 2s, revision 3
  2026-01-20T10:30:07Z  running -> cleanup

CALL     PID   AGE     HOST
a        4000  1.5s    75ff6945b9d096b3:1000
└─ long  4002  3s ago  -
   note of 999 in 10s
  PID COMMAND
 4000 a
 4002   b c
last 3s, process 4000 exists, 17 tasks, /home/ada/ledger`
	for _, printed := range []string{`
build: running for 3ms, revision 5
  2026-11-26T04:22:10Z  running -> cleanup

CALL     PID  AGE       HOST
a        7    12.345s   0123456789abcdef:0
└─ long  8    1h2m ago  -
   note of 999 in 10s
    PID COMMAND
      7 a
      8   b c
last 3m1.5s, process 7 exists, 17 tasks, /tmp/x/ledger`, `
build: running for 1h0m0s, revision 123
  2027-11-26T04:22:10.5Z  running -> cleanup

CALL     PID       AGE     HOST
a        12345678  9s      ffffffffffffffff:4294967294
└─ long  1234567   9s ago  -
   note of 999 in 10s
     PID COMMAND
12345678 a
 1234567   b c
last 1d, process 12345678 exists, 17 tasks, /tmp/x/ledger`} {
		s := newSettler(scene.Scene{PIDs: []string{"4000", "4002"}, Keep: []string{"10s"}}, "/tmp/x")
		step := scene.Step{Ages: []string{"2s", "1.5s", "3s"}, Revision: "3"}
		if got := text(s.settle(step, lines(printed))); got != want {
			t.Errorf("got%s\n\nwant%s", got, want)
		}
		if err := s.check(); err != nil {
			t.Error(err)
		}
	}
}

// A pid that is typed as the picture shows it stands for the real one.
func TestReal(t *testing.T) {
	s := newSettler(scene.Scene{PIDs: []string{"4711", "4712"}}, "/tmp/x")
	s.settle(scene.Step{}, lines("[1] 321"))
	if got := s.real("kill -9 4711; echo 4712 14711"); got != "kill -9 321; echo 4712 14711" {
		t.Error(got)
	}
	if err := s.check(); err == nil {
		t.Error("4712 has not appeared, and it does not matter")
	}
}

// A tone goes with its text.
func TestSettleTones(t *testing.T) {
	l := lines("PID  STATE\n12   active")
	for i := range l[1].Cells[5:] {
		l[1].Cells[5+i].Tone = draw.Good
	}

	s := newSettler(scene.Scene{PIDs: []string{"4711"}}, "/tmp/x")
	got := s.settle(scene.Step{}, l)[1]
	if got.String() != "4711  active" || got.Cells[3].Tone != draw.Plain ||
		got.Cells[6].Tone != draw.Good {
		t.Errorf("%q %+v", got.String(), got.Cells)
	}
}

func lines(text string) (all []draw.Line) {
	for line := range strings.SplitSeq(text, "\n") {
		var l draw.Line
		for _, r := range line {
			l.Cells = append(l.Cells, draw.Cell{Rune: r})
		}
		all = append(all, l)
	}
	return all
}

func text(lines []draw.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.String())
	}
	return strings.Join(all, "\n")
}
