// Mutants tests the tests: it puts one bug after the other into the sources, runs the tests that have to find it, and prints a
// table of who did.
//
//	go run ./scripts/mutants [NAME...]
//
// The sources stay as they are: the go command is told to take a changed copy (-overlay), also by the tests that build commands.
// A mutant that does not compile, or no longer fits, is an error, as is one that nobody finds. It exits 1 then.
package main

import (
	"encoding/json"
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

// hunt runs the tests that have to find m, and returns which did.
func (m mutant) hunt(dir string) (found, not []string, err error) {
	overlay, err := m.overlay(dir)
	if err != nil {
		return nil, nil, err
	}
	env := append(os.Environ(), "GOFLAGS=-overlay="+overlay)
	build := exec.Command("go", "build", "-o", os.DevNull, "./...")
	build.Env = env
	if said, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("it does not compile: %s", said)
	}
	for _, name := range m.by {
		t := tiers[name]
		cmd := exec.Command("go", append([]string{"test", "-count=1", "-timeout=10m"}, t.args...)...)
		cmd.Env = append(env, t.env...)
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

// overlay writes the changed copy of the source, and the file that says so to the go command.
func (m mutant) overlay(dir string) (string, error) {
	source, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	if strings.Count(string(text), m.old) != 1 {
		return "", fmt.Errorf("%s does not have once: %s", m.file, m.old)
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	said, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, said, 0o600)
}
