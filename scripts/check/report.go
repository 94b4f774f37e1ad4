package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A report is what a part has printed: lines of go test -json, and others.
type report struct {
	other    strings.Builder // output that is not JSON
	tests    map[testName]*test
	order    []testName
	packages int // that have passed
}

// A testName is a package and, if it is of one, a test.
type testName struct{ Package, Test string }

type test struct {
	output  strings.Builder
	verdict string
}

// readReport reads what a part has printed.
func readReport(output []byte) *report {
	r := &report{tests: make(map[testName]*test)}
	for line := range bytes.Lines(output) {
		var e struct {
			testName
			ImportPath, Action, Output string
		}
		if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil ||
			e.Action == "" {
			r.other.Write(line)
			continue
		}

		if e.Package == "" { // of a build
			r.other.WriteString(e.Output)
			continue
		}

		if e.Action == "start" {
			continue // the output of a package comes after that of its tests
		}

		t := r.tests[e.testName]
		if t == nil {
			t = &test{}
			r.tests[e.testName] = t
			r.order = append(r.order, e.testName)
		}

		t.output.WriteString(e.Output)
		switch e.Action {
		case "pass", "fail", "skip":
			t.verdict = e.Action
			if e.Test == "" && e.Action == "pass" {
				r.packages++
			}
		}
	}

	return r
}

// failures returns what was printed by the tests that did not pass, and by what is no test.
func (r *report) failures() string {
	var out strings.Builder
	for _, name := range r.order {
		if t := r.tests[name]; t.verdict != "pass" && t.verdict != "skip" {
			out.WriteString(t.output.String())
		}
	}
	return out.String() + r.other.String()
}

// counts returns how many tests and packages have passed, "" if there were none.
func (r *report) counts() string {
	n := 0
	for name, t := range r.tests {
		if name.Test != "" && t.verdict == "pass" {
			n++
		}
	}

	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  %d tests of %d packages", n, r.packages)
}

// reason is a line that says why a test was skipped: of package testing, or of a script.
var reason = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.+)$`)

// skipped returns, for each reason to skip tests, how many there were, and the first.
func (r *report) skipped() (lines []string) {
	names := make(map[string][]string)
	for _, name := range r.order {
		t := r.tests[name]
		if t.verdict != "skip" || name.Test == "" {
			continue
		}

		why := "no reason given"
		if all := reason.FindAllStringSubmatch(t.output.String(), -1); len(all) > 0 {
			why = strings.TrimSpace(all[len(all)-1][1])
		}

		names[why] = append(names[why], name.Test)
	}

	for why, tests := range names {
		text := tests[0]
		if n := len(tests) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		lines = append(lines, text+": "+why)
	}

	slices.Sort(lines)
	return lines
}
