package programs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUndeclared: a program that the machine has and nobody declares cannot be found, neither by
// its name nor by a shell.
func TestUndeclared(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"declared", "undeclared"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(inside, "")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))

	remove, err := Only("declared", "there-is-none")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()

	for name, want := range map[string]bool{"declared": true, "sh": true, "sed": true, "go": true,
		"undeclared": false, "there-is-none": false} {
		if _, err := exec.LookPath(name); (err == nil) != want {
			t.Errorf("%s: found: %v, want %v", name, err == nil, want)
		}
		if got := exec.Command("sh", "-c", "command -v "+name).Run() == nil; got != want {
			t.Errorf("%s: found by the shell: %v, want %v", name, got, want)
		}
	}
	if !There("undeclared") || There("there-is-none") {
		t.Error("what the machine has is not known")
	}

	own := t.TempDir()
	if err := Declare(own, "undeclared"); err != nil {
		t.Error(err)
	}
	if _, err := exec.LookPath(filepath.Join(own, "undeclared")); err != nil {
		t.Errorf("a program that is declared: %v", err)
	}
}

// TestRestricted: each package that starts programs has tests that see only those they declare.
func TestRestricted(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\t"os/exec"$`)
	// A keeper of a job clears its environment where the kernel has put it, which Only would replace.
	apart := []string{"programs", "job"}
	restricts := regexp.MustCompile(`\.(Run|Of)\(m\b`)
	found := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || slices.Contains(apart, filepath.Base(dir)) {
			return err
		}
		sources, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		tests, isStarted, isRestricted := 0, false, false
		for _, path := range sources {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			isStarted = isStarted || starts.Match(text)
			if strings.HasSuffix(path, "_test.go") {
				tests++
				isRestricted = isRestricted || restricts.Match(text)
			}
		}

		if tests > 0 && isStarted {
			found++
			if !isRestricted {
				t.Errorf("%s: it starts programs, and its TestMain does not call programs.Run", dir)
			}
		}
		return nil
	})
	if err != nil || found < 30 {
		t.Errorf("%d packages were found: %v", found, err)
	}
}

// TestDeclared: whatever scripts and TestMains declare is a program of a bare Debian, or has a row
// in tools.txt, so that CI installs it.
func TestDeclared(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "scripts", "check", "tools.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Concat(Essential(), basic, []string{"linux", "root"})
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "check" || words[0] == "extra") {
			known = append(known, words[1])
		}
	}

	needs := regexp.MustCompile(`(?m)^needs (.*)$`)
	calls := regexp.MustCompile(`\w+\.(?:Run\(m\b|Of\(m\b|Only\()([^)]*)\)`)
	quoted := regexp.MustCompile(`"([^"]+)"`)
	found := 0
	check := func(path, name string) {
		if found++; !slices.Contains(known, name) {
			t.Errorf("%s declares %s, which has no row in scripts/check/tools.txt", path, name)
		}
	}

	scripts, _ := filepath.Glob(filepath.Join(root, "testscripts", "*", "*.txtar"))
	var sources []string
	for _, pattern := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		all, _ := filepath.Glob(filepath.Join(root, pattern, "*_test.go"))
		sources = append(sources, all...)
	}
	for _, path := range append(scripts, sources...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".txtar") {
			for _, line := range needs.FindAllStringSubmatch(string(text), -1) {
				for name := range strings.FieldsSeq(line[1]) {
					check(path, name)
				}
			}
		} else if filepath.Base(filepath.Dir(path)) != "programs" {
			for _, call := range calls.FindAllStringSubmatch(string(text), -1) {
				for _, name := range quoted.FindAllStringSubmatch(call[1], -1) {
					check(path, name[1])
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d declarations were found", found)
	}
}
