package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

var shape = Shape{"tasks": "id"}

// history returns the lines of a small record, its end, and the object after it.
func history() (lines []string, end Chain, text string) {
	states := []string{
		`{"name":"q","revision":1,"tasks":[]}`,
		`{"name":"q","revision":2,"tasks":[{"id":"a","state":"waiting","n":1},{"id":"b","n":2}]}`,
		`{"name":"q","revision":3,"tasks":[{"id":"a","state":"claimed","n":1,"claim":{"by":"w"}},{"id":"b","n":2}],"halts":["x"]}`,
		`{"name":"q","revision":4,"tasks":[{"id":"b","n":2}],"a/b~":1}`,
		`{"name":"q","revision":5,"tasks":[{"id":"b","n":3}],"a/b~":1}`,
	}
	patches := [][]Change{
		{{"", "", states[0], ""}},
		{{"tasks/a", "", `{"id":"a","state":"waiting","n":1}`, ""}, {"tasks/b", "", `{"id":"b","n":2}`, ""}},
		{{"tasks/a/state", `"waiting"`, `"claimed"`, ""}, {"tasks/a/claim", "", `{"by":"w"}`, ""}, {"halts", "", `["x"]`, ""}},
		{{"tasks/a", `{"id":"a","n":1,"state":"claimed","claim":{"by":"w"}}`, "", ""}, {"halts", `["x"]`, "", ""},
			{"a~1b~0", "", "1", ""}},
		{{"tasks/b/n", "2", "3", ""}},
	}

	for i, patch := range patches {
		end = end.Append(Entry{At: time.Date(2026, 1, 20, 10, 30, i, 0, time.UTC), Verb: "verb",
			By:       By{Participant: "w", User: "1000", Command: "dpl-claim q"},
			Revision: int64(i + 1), Patch: patch})
	}
	lines, end.Pending = end.Pending, nil
	return lines, end, states[len(states)-1]
}

// verify verifies a log, whose last line may be torn.
func verify(log string, end Chain, text string, known ...string) []Finding {
	v := &Verifier{State: State{Shape: shape}, Known: known}
	for line := range strings.Lines(log) {
		if complete, ok := strings.CutSuffix(line, "\n"); ok {
			l, err := Parse(complete)
			v.Line(l, err)
		} else {
			v.Rest(line)
		}
	}
	v.End(end, text)
	return v.Findings
}

func join(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// names reports whether one of findings is about line seq, or about more that are missing before
// it.
func names(findings []Finding, seq int64) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Seq == seq })
}

// A record that nobody has touched is whole, wherever its last lines are.
func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	for n := range len(lines) + 1 {
		end := end
		end.Pending = lines[n:]
		for from := n; from <= len(lines); from++ {
			if found := verify(strings.Join(append(slices.Clone(lines[:from]), ""), "\n"), end, text); found != nil {
				t.Errorf("%d lines in the log, pending from %d: %v", from, n, found)
			}
		}
	}
	for i, line := range lines {
		if found := verify(join(lines), end, text, wire.Hash(line)); found != nil {
			t.Errorf("with the head of line %d: %v", i+1, found)
		}
	}
}

// Each byte of a log counts.
func TestVerifyFlips(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	log := join(lines)
	seq := int64(1)
	for i := range len(log) {
		for _, flip := range []byte{1, 2, 0x20, 0x80} {
			damaged := []byte(log)
			damaged[i] ^= flip
			if found := verify(string(damaged), end, text); !names(found, seq) {
				t.Fatalf("byte %d, of line %d, flipped by %#x: %v", i, seq, flip, found)
			}
		}
		if log[i] == '\n' {
			seq++
		}
	}
}

// Lines that were removed, doubled, swapped or put in are named.
func TestVerifyLines(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	check := func(what string, seq int64, how How, log []string) {
		t.Helper()
		found := verify(join(log), end, text)
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Seq == seq && f.How == how }) {
			t.Errorf("%s: %v", what, found)
		}
	}

	for i := range lines {
		seq := int64(i + 1)
		check(fmt.Sprint("without line ", seq), seq, Missing, slices.Delete(slices.Clone(lines), i, i+1))
		check(fmt.Sprint("line twice: ", seq), seq, Forked, slices.Insert(slices.Clone(lines), i, lines[i]))
		check(fmt.Sprint("at the end again: ", seq), seq, Forked, append(slices.Clone(lines), lines[i]))
		other := strings.Replace(lines[i], "dpl-claim", "dpl-other", 1)
		check(fmt.Sprint("another line: ", seq), seq, Forked, slices.Insert(slices.Clone(lines), i+1, other))
		if i+1 < len(lines) {
			swapped := slices.Clone(lines)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			check(fmt.Sprint("swapped with the next: ", seq), seq, Missing, swapped)
			check(fmt.Sprint("swapped with the next: ", seq), seq, Forked, swapped)
		}
	}
}

// A log that ends early is torn, or lines are missing, except those that are pending.
func TestVerifyCuts(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	log := join(lines)
	for i := range len(log) {
		whole := int64(strings.Count(log[:i], "\n"))
		found := verify(log[:i], end, text)
		if !names(found, whole+1) {
			t.Fatalf("cut at byte %d, after %d lines: %v", i, whole, found)
		}

		pending := end
		pending.Pending = lines[2:]
		if found := verify(log[:i]+strings.Repeat("\x00", len(log)-i), pending, text); whole >= 2 && found != nil {
			t.Fatalf("zeros from byte %d on, after %d lines: %v", i, whole, found)
		}
		if found := verify(log[:i], pending, text); whole >= 2 && found != nil {
			t.Fatalf("cut at byte %d, after %d lines, where others are pending: %v", i, whole, found)
		}
	}
}

// The file of the object is compared with what the lines say, and its head with that of the last.
func TestVerifyFile(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	for _, other := range []string{
		strings.Replace(text, `"n":3`, `"n":4`, 1), strings.Replace(text, `"id":"b"`, `"id":"c"`, 1),
		strings.Replace(text, `,"a/b~":1`, "", 1), strings.Replace(text, `"name":"q",`, `"name":"q","x":[],`, 1),
		strings.Replace(text, `"revision":5`, `"revision":6`, 1), "{}",
	} {
		if found := verify(join(lines), end, other); !names(found, 5) {
			t.Errorf("the file is %s: %v", other, found)
		}
	}
	spaced := strings.ReplaceAll(strings.ReplaceAll(text, ":", " : "), ",", "\n,")
	if found := verify(join(lines), end, spaced); found != nil {
		t.Errorf("another layout: %v", found)
	}

	older := end
	older.Seq, older.Head = 3, wire.Hash(lines[2])
	if found := verify(join(lines), older, text); len(found) != 1 || found[0].How != Forked || found[0].Seq != 4 {
		t.Errorf("an older file: %v", found)
	}
	forged := end
	forged.Head = wire.Hash("x")
	if found := verify(join(lines), forged, text); !names(found, 5) {
		t.Errorf("another head: %v", found)
	}
}

// A head that was kept elsewhere tells of lines that were made anew, or removed.
func TestVerifyKnown(t *testing.T) {
	t.Parallel()
	lines, end, text := history()
	if found := verify(join(lines), end, text, wire.Hash("x")); len(found) != 1 || found[0].How != Missing {
		t.Errorf("a head that no line has: %v", found)
	}
	if found := verify(join(lines[2:]), end, text); len(found) != 1 || found[0].Seq != 1 ||
		found[0].How != Missing {
		t.Errorf("without the first two lines: %v", found)
	}

	for n, line := range lines {
		head, _ := Parse(line)
		forged := Chain{Seq: head.Seq, Head: head.Hash}.Append(Entry{At: head.At, Verb: Sealed,
			Revision: 5, Patch: []Change{{After: text}}})
		forged.Sealed = Sealing{Part: 1, Head: head.Hash}
		begun := join(forged.Pending)
		forged.Pending = nil
		if found := verify(begun, forged, text); found != nil {
			t.Errorf("the parts before line %d are elsewhere: %v", n+2, found)
		}
		if found := verify(begun, forged, text, head.Hash); len(found) != 1 || found[0].How != Missing {
			t.Errorf("a part that names the known head begins with line %d: %v", n+2, found)
		}
		forged.Sealed.Head = head.Prev
		if found := verify(line+"\n"+begun, forged, text, head.Hash); n > 0 && !names(found, 1) {
			t.Errorf("the known head is that of line %d, which begins the log: %v", n+1, found)
		}
	}
}
