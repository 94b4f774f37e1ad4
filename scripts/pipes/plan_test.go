//go:build linux

package pipes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The stages of the pipeline are also the names of their calls.
var stages = []string{"first", "middle", "last"}

// outermost stands for the call of the outer dpl-run, whose name is made up by dpl-run. Its command
// is the shell that runs the script.
const outermost = "outermost"

// The processes of a stage that a trial may kill.
const (
	command = "command"
	runner  = "dpl-run"
	keeper  = "keeper"
)

var roles = []string{command, runner, keeper}

// A victim is a process of a stage.
type victim struct{ stage, role string }

func (v victim) String() string { return v.role + " of " + v.stage }

// The shapes of a pipeline.
const (
	threeCalls  = "three calls"
	plainMiddle = "plain middle"      // the second stage runs without dpl-run
	ignoresTERM = "last ignores TERM" // and its commands do
	toFile      = "--to"              // the last stage is dpl-run --to out -- cat
)

var shapes = []string{threeCalls, plainMiddle, ignoresTERM, toFile}

// shells run the script.
var shells = []string{"dash", "bash", "zsh", "busybox"}

// A variant is a kind of pipeline.
type variant struct {
	shape string
	outer bool // a dpl-run runs the script; otherwise DPL_OP is exported to it
	shell string
}

func (v variant) String() string {
	return v.shape + ", " + map[bool]string{true: "outer dpl-run", false: "DPL_OP"}[v.outer] + ", " +
		v.shell
}

// calls returns the stages that are calls.
func (v variant) calls() []string {
	if v.shape == plainMiddle {
		return []string{"first", "last"}
	}
	return stages
}

// variants returns all variants.
func variants() (all []variant) {
	for _, shape := range shapes {
		for _, outer := range []bool{true, false} {
			for _, shell := range shells {
				all = append(all, variant{shape, outer, shell})
			}
		}
	}
	return all
}

// The faults of a trial.
const (
	noFault = "none"
	exits   = "exit 1"       // a command does
	kills   = "kill"         // victims are killed
	early   = "early kill"   // a dpl-run is killed soon after it has started
	stage   = "killed stage" // all processes of a stage are killed
	outside = "kill outside" // a process of the outer dpl-run is killed
)

// A plan is what a trial does.
type plan struct {
	number int
	variant
	fault   string
	victims []victim
	written bool            // the first stage has written everything, not only all calls have begun
	after   time.Duration   // from then on; from the start of dpl-run if the kill is early
	apart   []time.Duration // after each victim
	exits   string          // the stage whose command exits 1

	waits     bool            // the first stage waits for the trial before it writes
	pauses    []time.Duration // after each piece that it writes
	big       int             // the piece that is larger than a pipe
	cut       int             // the pieces that it writes before it exits 1
	bytes     int             // that the filter copies before it exits 1
	shells    bool            // the filter is the child of a shell
	killAfter string          // of the last stage
}

// newPlan returns the plan of a trial.
func newPlan(seed uint64, number int, v variant) plan {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	p := plan{number: number, variant: v, big: -1, shells: rng.IntN(2) == 0, killAfter: "1s"}
	var lasts time.Duration
	for range 4 + rng.IntN(6) {
		pause := time.Duration(rng.IntN(80)) * time.Millisecond
		p.pauses = append(p.pauses, pause)
		lasts += pause
	}
	if rng.IntN(4) == 0 {
		p.big = rng.IntN(len(p.pauses))
	}
	if rng.IntN(8) == 0 {
		p.killAfter = "5s"
	}

	// Much is decided in the milliseconds in which the stages end.
	p.after = time.Duration(rng.Int64N(int64(lasts) + 1))
	if p.written = rng.IntN(4) == 0; p.written {
		p.after = time.Duration(rng.Int64N(int64(8 * time.Millisecond)))
	}

	among := v.calls()
	one := func() victim {
		return victim{among[rng.IntN(len(among))], roles[rng.IntN(len(roles))]}
	}

	switch n := rng.IntN(100); {
	case n < 4:
		p.fault = noFault
	case n < 20:
		p.fault, p.exits = exits, among[rng.IntN(len(among)-1)]
		p.cut = rng.IntN(len(p.pauses) + 1)
		p.bytes = rng.IntN(len(p.text()))
	case n < 66:
		p.fault, p.victims = kills, []victim{one()}
	case n < 84:
		p.fault = kills
		for range 2 + rng.IntN(3) {
			p.victims = append(p.victims, one())
		}
	case n < 88 && v.outer:
		p.fault, p.victims = outside, []victim{{outermost, roles[rng.IntN(len(roles))]}}
	case n < 94:
		p.fault = stage
		of := among[rng.IntN(len(among))]
		for _, i := range rng.Perm(len(roles)) {
			p.victims = append(p.victims, victim{of, roles[i]})
		}
	default:
		p.fault, p.victims = early, []victim{{among[rng.IntN(len(among))], runner}}
		p.written, p.after = false, time.Duration(rng.Int64N(int64(8*time.Millisecond)))
	}

	p.waits = p.fault != early && (p.fault != exits || !v.outer) || rng.IntN(2) == 0
	most := []int64{1, int64(12 * time.Millisecond)}[rng.IntN(2)]
	for range p.victims {
		p.apart = append(p.apart, time.Duration(rng.Int64N(most)))
	}
	return p
}

// quick changes a plan that may last for a minute. If the dpl-run and the keeper of a stage are
// killed, and a process of its command waits for the end of its input, then the other stages wait
// for that process. The first stage has no input.
func (p plan) quick() plan {
	for _, stage := range stages {
		if slices.Contains(p.victims, victim{stage, runner}) &&
			slices.Contains(p.victims, victim{stage, keeper}) {
			for i := range p.victims {
				p.victims[i].stage = "first"
			}
			p.victims, p.apart = append(p.victims, victim{"first", command}), append(p.apart, 0)
			break
		}
	}
	return p
}

func (p plan) String() string {
	text := fmt.Sprintf("DPL_TRIAL=%d: %v: %s", p.number, p.variant, p.fault)
	switch p.fault {
	case exits:
		text += " of " + p.exits
	case kills, early, stage, outside:
		text += fmt.Sprintf(" %q after %v", p.victims, p.after)
		if p.written {
			text += " and the last line"
		}
	}
	return text
}

// piece returns what the first stage writes as its piece i.
func (p plan) piece(i int) string {
	lines := 20
	if i == p.big {
		lines = 4000 // a pipe holds 64 KiB
	}

	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "line %d of piece %d\n", n, i)
	}
	return b.String()
}

// text returns all that the first stage writes.
func (p plan) text() string {
	var b strings.Builder
	for i := range p.pauses {
		b.WriteString(p.piece(i))
	}
	return b.String()
}

// scripts returns the files of a trial, by name. Without a fault, no command exits 1.
func (p plan) scripts(fault bool) map[string]string {
	var first strings.Builder
	first.WriteString("read -r _ <go\n")
	for i, pause := range p.pauses {
		if fault && p.exits == "first" && i == p.cut {
			first.WriteString("exit 1\n")
		}
		fmt.Fprintf(&first, "echo '%s'\nsleep %.3f\n", strings.TrimSuffix(p.piece(i), "\n"),
			pause.Seconds())
	}
	if fault && p.exits == "first" {
		first.WriteString("exit 1\n")
	}

	middle := "exec cat\n"
	if p.shells {
		middle = "cat\nexit $?\n"
	}
	if fault && p.exits == "middle" {
		middle = fmt.Sprintf("head -c %d\nexit 1\n", p.bytes)
	}

	last := "cat >>out.part && mv out.part out\n"
	if p.shape == ignoresTERM {
		last = "trap '' TERM\n" + last
	}
	return map[string]string{"script": p.script(), "first": first.String(), "middle": middle,
		"last": last}
}

// script returns the script with the pipeline.
func (p plan) script() string {
	filter := "dpl-run --call middle -- sh middle"
	if p.shape == plainMiddle {
		filter = "sh middle"
	}
	upload := "--kill-after " + p.killAfter + " -- sh last"
	if p.shape == toFile {
		upload = "--to out -- cat"
	}
	return ": >out.part\n" +
		"dpl-run --call first -- sh first | " + filter + " | dpl-run --call last " + upload + "\n"
}

// argv returns the command that runs the script.
func (p plan) argv() (argv []string) {
	if p.outer {
		argv = []string{"dpl-run", "--op", "n", "--"}
	}
	argv = append(argv, p.shell)
	if p.shell == "busybox" {
		argv = append(argv, "sh")
	}
	return append(argv, "script")
}
