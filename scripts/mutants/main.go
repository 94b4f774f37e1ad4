// Mutants tests the tests: it puts one bug after the other into the sources, runs the tests that
// must find it, and prints a table of those that did.
//
//	go run ./scripts/mutants [NAME...]
//
// It works on a copy of the sources. It exits 1 in the end if a mutant does not compile, no longer
// fits the sources, or is found by no test. TestFit, a part of make check, reports those that do
// not fit.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	dir, err := os.MkdirTemp("", "dpl-mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	if err := copyTree(dir); err != nil {
		return err
	}

	fmt.Printf("%-44s %-40s %s\n", "MUTANT", "FOUND BY", "NOT BY")
	missed := 0
	for _, m := range all() {
		if len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}

		found, not, err := m.hunt(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", m.name, err)
		}
		if len(found) == 0 {
			missed++
		}

		fmt.Printf("%-44s %-40s %s\n", m.name, strings.Join(found, ", "), strings.Join(not, ", "))
	}

	if missed > 0 {
		return fmt.Errorf("%d not found", missed)
	}

	return nil
}

// copyTree copies the module to dir, without its history and what is built.
func copyTree(dir string) error {
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}

	for _, e := range entries {
		switch {
		case e.Name() == ".git" || e.Name() == "bin":
		case e.IsDir():
			err = os.CopyFS(filepath.Join(dir, e.Name()), os.DirFS(e.Name()))
		default:
			err = copyFile(e.Name(), filepath.Join(dir, e.Name()))
		}

		if err != nil {
			return err
		}
	}

	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// hunt runs, in dir, the tests that have to find m, and returns which did.
func (m mutant) hunt(dir string) (found, not []string, err error) {
	if err := m.apply(dir); err != nil {
		return nil, nil, err
	}
	defer copyFile(m.file, filepath.Join(dir, m.file))

	for _, name := range m.by {
		begun := time.Now()
		failed, err := huntBy(name).fails(dir)
		if err != nil {
			return nil, nil, err
		}

		result := fmt.Sprintf("%s(%.0fs)", name, time.Since(begun).Seconds())
		if failed {
			found = append(found, result)
		} else {
			not = append(not, result)
		}
	}

	return found, not, nil
}

// fails runs the tests in dir. It is an error if tests do not run because they do not compile or
// are skipped.
func (t tier) fails(dir string) (bool, error) {
	cmd := exec.Command(t.argv[0], t.argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), t.env...)
	said, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return false, err
	}

	switch text := string(said); {
	case unbuilt.MatchString(text):
		return false, fmt.Errorf("it does not compile: %s", text)
	case err == nil && idle(text):
		return false, fmt.Errorf("no test runs: %q: %s", t.argv, text)
	default:
		return err != nil && failure.MatchString(text), nil
	}
}

// The output of go test -v and unittest, and of tests of the commands that could not build them.
var (
	unbuilt = regexp.MustCompile(`\[(build|setup) failed\]|go build .*: exit status `)
	failure = regexp.MustCompile(`(?m)^ *--- FAIL: |^(FAIL|ERROR): test|^panic: test timed out`)
	passed  = regexp.MustCompile(`(?m)^ *--- PASS: (\S+)`)
	skipped = regexp.MustCompile(`(?m)^ *--- SKIP: |skipped=`)
)

// idle reports whether text, the output of tests that did not fail, shows that no test ran: all
// were skipped, or none had that name.
func idle(text string) bool {
	for _, test := range passed.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, ": "+test[1]+"/") {
			return false
		}
	}
	return skipped.MatchString(text) || strings.Contains(text, "no tests to run") ||
		strings.Contains(text, "Ran 0 tests")
}

// apply changes the copy in dir.
func (m mutant) apply(dir string) error {
	text, err := m.change(".")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, m.file), text, 0o644)
}

// change returns the file of the module in root with the bug in it.
func (m mutant) change(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 || m.old == m.new {
		return nil, fmt.Errorf("%s has it %d times, not once: %s", m.file, n, m.old)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}
