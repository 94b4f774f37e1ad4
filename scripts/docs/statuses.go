package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// exitStatuses returns the exit statuses of all commands, in order, with their general meanings.
func exitStatuses(commands []*command) (all []exitStatus) {
	known := make(map[string]bool)
	for _, c := range commands {
		for _, s := range c.ExitStatuses {
			if s.OfAll != "" && !known[s.Status] {
				known[s.Status], all = true, append(all, s)
			}
		}
	}

	slices.SortFunc(all, func(a, b exitStatus) int {
		return cmp.Or(cmp.Compare(len(a.Status), len(b.Status)), cmp.Compare(a.Status, b.Status))
	})
	return all
}

// sentence matches the start of a sentence inside a line; mdoc(7) wants each on a line of its own.
var sentence = regexp.MustCompile(`\. ([A-Z])`)

// mdocStatuses returns the exit statuses of commands as items of an mdoc(7) list.
func mdocStatuses(commands []*command) string {
	var out strings.Builder
	for _, s := range exitStatuses(commands) {
		fmt.Fprintf(&out, ".It %s\n%s\n", s.Status,
			sentence.ReplaceAllString(inline(s.OfAll, nil), ".\n$1"))
	}
	return out.String()
}

// mdocCommands returns the commands as items of an mdoc(7) list.
func mdocCommands(commands []*command) string {
	var out strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&out, ".It Xr %s 1\n%s\n", c.Program, roff(c.Summary))
	}
	return out.String()
}
