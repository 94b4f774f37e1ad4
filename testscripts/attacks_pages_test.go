//go:build unix

package testscripts

import (
	"regexp"
	"strings"
	"testing"
)

// TestAttacksPages checks that each line of what is prevented, and of what is evident afterwards,
// names scripts and tests that there are, on each page with these lists.
func TestAttacksPages(t *testing.T) {
	t.Parallel()
	p := &evidence{tests: testNames(t)}
	for page, want := range map[string]int{
		"SECURITY.md": 2, "spec/agents.md": 8, "spec/reliability.md": 29,
	} {
		lines := attackLines(read(t, page))
		if len(lines) != want {
			t.Errorf("%s has %d lines, want %d", page, len(lines), want)
		}
		for _, line := range lines {
			named := 0
			for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
				if !attackTest.MatchString(span[1]) {
					continue
				}
				if named++; !p.shows(span[1]) {
					t.Errorf("%s: %q is neither a script nor a test", page, span[1])
				}
			}
			if named == 0 {
				t.Errorf("%s names no test: %s", page, line)
			}
		}
	}
}

// attackTest matches what names a script or a test in Go.
var attackTest = regexp.MustCompile(`^(?:[a-z]+/[a-z_]+|(?:Test|Fuzz)\w+)$`)

// attackLists matches the first two lists of a page, up to the third one.
var attackLists = regexp.MustCompile(`(?ms)^(?:- )?\*+Prevented\*.*^(?:- )?\*+Neither`)

// attackLines returns the rows and points of the first two lists of a page, each on one line.
func attackLines(page string) (all []string) {
	lists := strings.ReplaceAll(attackLists.FindString(page), "\n  ", " ")
	for line := range strings.Lines(lists) {
		point := strings.HasPrefix(line, "- ") && !strings.HasSuffix(line, "*Neither")
		if point || strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| attack |") {
			all = append(all, line)
		}
	}
	return all
}
