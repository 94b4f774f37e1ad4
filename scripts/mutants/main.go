// Mutants tests the tests: it puts one bug after the other into the sources, and reports those that
// no test finds.
//
//	go run ./scripts/mutants [NAME...]                    the bugs in lessons.go
//	go run ./scripts/mutants -since REV [-by TESTS]       the operators, on lines changed since REV
//
// The operators are in operators.go. TESTS are a package and a pattern of its tests, such as
// "./testscripts TestScripts/^push$". Without them each package's own tests run, with -short.
//
// The sources stay as they are: go reads the bugs through -overlay. The tests run in a pid
// namespace of their own (unshare), so a bug that signals processes reaches none of yours. It exits
// 1 if a bug is not found.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

func main() {
	since := flag.String("since", "", "the operators, on lines of Go that changed since this revision")
	by := flag.String("by", "", "the tests to run instead of those of the package")
	flag.Parse()

	all, err := chosen(*since, *by, flag.Args())
	if err == nil {
		err = hunt(all, hunter{root: ".", prefix: contained()})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// chosen returns the mutants that the command line asks for.
func chosen(since, by string, names []string) ([]mutant, error) {
	if since != "" {
		return changed(".", since, by)
	}

	var all []mutant
	for _, l := range lessons {
		if len(names) > 0 && !slices.Contains(names, l.name) {
			continue
		}
		m, err := l.mutant(".", nil)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// hunt prints what becomes of each mutant, and returns an error unless all are found.
func hunt(all []mutant, h hunter) error {
	found, unbuilt, missed := 0, 0, 0
	for _, m := range all {
		result, err := h.hunt(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}

		switch {
		case result == survived:
			missed++
		case result == killed:
			found++
		case m.must: // an operator may well make what does not compile
			return fmt.Errorf("%s: %s", m.name, result)
		default:
			unbuilt++
		}
		if m.must || result == survived {
			fmt.Printf("%-12s %s\n", result, m.name)
		}
	}

	fmt.Printf("%d found, %d survived, %d do not compile\n", found, missed, unbuilt)
	if missed > 0 {
		return fmt.Errorf("%d not found", missed)
	}
	return nil
}
