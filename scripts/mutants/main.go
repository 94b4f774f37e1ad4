// Mutants tests the tests: it puts one bug after the other into the sources, runs the tests that have to find it, and prints a
// table of who did.
//
//	go run ./scripts/mutants [NAME...]
//
// The sources stay as they are: all is done to a copy. A mutant that does not compile, or no longer fits, is an error, as is one
// that nobody finds. It exits 1 then.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	fmt.Printf("%-28s %-40s %s\n", "MUTANT", "FOUND BY", "NOT BY")
	missed := 0
	for _, m := range mutants {
		if len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}
		found, not, err := m.hunt(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if len(found) == 0 {
			missed++
		}
		fmt.Printf("%-28s %-40s %s\n", m.name, strings.Join(found, " "), strings.Join(not, " "))
	}
	if missed > 0 {
		return fmt.Errorf("%d not found", missed)
	}
	return nil
}

// copyTree copies the module to dir, but for its history and what is built.
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
	build := exec.Command("go", "build", "-o", os.DevNull, "./...")
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("it does not compile: %s", said)
	}
	for _, name := range m.by {
		t := tiers[name]
		cmd := exec.Command("go", append([]string{"test", "-count=1", "-timeout=10m"}, t.args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), t.env...)
		begun := time.Now()
		said, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return nil, nil, err
		}
		result := fmt.Sprintf("%s(%.0fs)", name, time.Since(begun).Seconds())
		if err != nil && strings.Contains(string(said), "--- FAIL: ") {
			found = append(found, result)
		} else {
			not = append(not, result)
		}
	}
	return found, not, nil
}

// apply changes the copy in dir.
func (m mutant) apply(dir string) error {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	if strings.Count(string(text), m.old) != 1 {
		return fmt.Errorf("%s does not have once: %s", m.file, m.old)
	}
	return os.WriteFile(filepath.Join(dir, m.file), []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o644)
}
