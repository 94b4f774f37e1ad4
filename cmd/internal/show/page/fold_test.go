package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// callsOf returns an operation with n calls. Call i was made by call caller(i), and those that
// crashes names have crashed.
func callsOf(n int, caller func(i int) int, crashes ...int) model.Operation {
	op := protocol.Create("op", "", 0, time.Hour)
	for i := range n {
		f := &protocol.Frame{CallID: fmt.Sprintf("call-%d", i), ParticipantID: "worker",
			State: protocol.FrameActive, StartTime: noon,
			Vitals: observe.Vitals{PID: 4711, LastHeartbeat: noon}}
		if i > 0 {
			f.CallerID = fmt.Sprintf("call-%d", caller(i))
		}
		if slices.Contains(crashes, i) {
			f.State = protocol.FrameCrashed
			f.Crash = &protocol.Crash{At: noon, DetectedBy: "pass", Evidence: observe.Exited}
		}
		op.Stack = append(op.Stack, f)
	}
	return model.Operation{Operation: op, Seen: observe.Observation{Now: noon.Add(time.Second)}}
}

var foldForm = regexp.MustCompile(
	`<details( class="entries" open="open")?|</details>|<b class="id">([^<]+)</b>`)

// folds returns for each line of a page's trees in how many closed parts it is.
func folds(page string) map[string]int {
	found := make(map[string]int)
	var closed []bool
	for _, part := range foldForm.FindAllStringSubmatch(page, -1) {
		switch {
		case part[2] != "":
			found[part[2]] = 0
			for _, is := range closed {
				if is {
					found[part[2]]++
				}
			}
		case part[0] == "</details>":
			closed = closed[:len(closed)-1]
		default:
			closed = append(closed, part[1] == "")
		}
	}
	return found
}

// The tree and the timeline always show the root and crashed calls, for any number of calls in any
// shape. They fold nearly everything else, and leave nothing out.
func TestFolding(t *testing.T) {
	shapes := map[string]func(i int) int{
		"chain": func(i int) int { return i - 1 }, "star": func(int) int { return 0 },
		"binary": func(i int) int { return (i - 1) / 2 },
		"twenty": func(i int) int { return (i - 1) / 20 },
	}
	for shape, caller := range shapes {
		for _, n := range []int{1, 20, 200, 2000} {
			if n > 200 && shape != "twenty" {
				continue // the others take as long, and show the same with 200
			}
			t.Run(fmt.Sprintf("%s/%d", shape, n), func(t *testing.T) {
				t.Parallel()
				crashes := []int{n / 2, n * 3 / 4, n - 1}
				p := pageOf(callsOf(n, caller, crashes...))
				text := p.Text()
				shown, found := 0, folds(text)
				for i := range n {
					call := fmt.Sprintf("call-%d", i)
					switch closed, there := found[call]; {
					case !there:
						t.Fatalf("%s is not there", call)
					case closed == 0:
						shown++
					case i == 0 || slices.Contains(crashes, i) || n <= smallTree:
						t.Errorf("%s is folded", call)
					}
				}
				if most := 1 << 20; len(text) > most {
					t.Errorf("it has %d bytes, want at most %d", len(text), most)
				}
				if most := 90; shown > most {
					t.Errorf("%d calls are shown at once, want at most %d", shown, most)
				}

				for _, i := range append(crashes, 0) {
					if !strings.Contains(text, fmt.Sprintf("<b>call-%d</b>", i)) {
						t.Errorf("call-%d is not on the timeline", i)
					}
				}
			})
		}
	}
}

// All that has crashed is shown, however much that is.
func TestNoCrashIsFolded(t *testing.T) {
	var all []int
	for i := range 300 {
		all = append(all, i)
	}
	text := pageOf(callsOf(300, func(int) int { return 0 }, all...)).Text()
	found := folds(text)
	for _, i := range all {
		call := fmt.Sprintf("call-%d", i)
		closed, there := found[call]
		if closed != 0 || !there || !strings.Contains(text, "<b>"+call+"</b>") {
			t.Fatalf("%s is folded, or not on the timeline", call)
		}
	}
	if !strings.Contains(text, "300 calls crashed: call-0 (exited), ") ||
		!strings.Contains(text, " and 292 more") {
		t.Error("what has crashed is not told in short at the top")
	}
}

// Lists are nested as the calls are. Those that are too deep say how deep they are.
func TestNesting(t *testing.T) {
	levels := func(op model.Operation) (all []string) {
		var walk func(l *list, depth int)
		walk = func(l *list, depth int) {
			for _, line := range l.Shown {
				all = append(all, fmt.Sprintf("%s %d %d", line.ID, depth, line.Level))
				if line.Below != nil {
					walk(line.Below, depth+1)
				}
			}
		}
		walk(planted(calls(op), "call"), 0)
		return all
	}

	got := levels(callsOf(5, func(i int) int { return (i - 1) / 2 }))
	want := []string{"call-0 0 0", "call-1 1 0", "call-3 2 0", "call-4 2 0", "call-2 1 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	got = levels(callsOf(16, func(i int) int { return i - 1 }))[11:]
	want = []string{"call-11 11 0", "call-12 12 0", "call-13 12 13", "call-14 12 14", "call-15 12 15"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The timeline is nested as well, also where a caller or a call has ended.
func TestNestedLanes(t *testing.T) {
	op := callsOf(4, func(i int) int { return i - 1 })
	start := func(call, caller string) observe.Event {
		return observe.Event{At: noon, Type: observe.CallStarted, CallID: call, CallerID: caller,
			To: "active"}
	}
	op.Events = []observe.Event{start("gone", "call-1"), start("below", "gone"), start("self", "self"),
		start("a", "b"), start("b", "a"), start("call-0", "call-3")}

	var got []string
	for _, l := range operationLanes(op).lanes {
		got = append(got, fmt.Sprintf("%s %d", l.label, l.depth))
	}
	want := []string{"operation 0", "call-0 0", "call-1 1", "gone 2", "below 3", "call-2 2", "call-3 3",
		"self 0", "a 0", "b 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The call for which the operation has failed is marked, and kept where there are many.
func TestFailureLane(t *testing.T) {
	op := callsOf(1, nil)
	op.State = protocol.Failed
	for i := range 100 {
		call := fmt.Sprintf("c%d", i)
		op.Events = append(op.Events, observe.Event{At: noon, Type: observe.CallStarted, CallID: call},
			observe.Event{At: noon.Add(time.Second), Type: observe.CallEnded, CallID: call})
	}
	for cause, want := range map[string]string{"c99": "c99 ×", "c98": "c98 ×", "c1000": "", "": ""} {
		left := protocol.Transition{From: protocol.Running, To: protocol.Cleanup,
			At: noon.Add(time.Second), Reason: "call c97 before you go on"}
		if cause != "" {
			left.Cause = &protocol.Cause{Call: cause, Evidence: observe.Stale}
		}
		op.Transitions = []protocol.Transition{left}
		got := ""
		for _, track := range operationLanes(op).timeline().Tracks {
			for _, b := range track.Bars {
				if b.Class == "mark bad" {
					got += track.Label + " " + b.Text
				}
			}
		}
		if got != want {
			t.Errorf("%s: marks %q, want %q", cause, got, want)
		}
	}
}

// A page of a ledger with many operations is not large: those beyond the first have no body.
func TestManyOperations(t *testing.T) {
	p := Page{Title: "Ledger", Whole: true, Now: noon}
	for i := range 600 {
		op := callsOf(1, nil)
		op.ID = fmt.Sprintf("op-%d", i)
		p.Operations = append(p.Operations, op)
	}
	text := p.Text()
	if most := 500 << 10; len(text) > most {
		t.Errorf("%d bytes, want at most %d", len(text), most)
	}
	if n := strings.Count(text, `<h2>op-`); n != 600 {
		t.Errorf("%d operations are there, want all 600", n)
	}
}
