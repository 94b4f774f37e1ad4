package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// Each mutant changes one place in the sources into something that can be parsed, and the tests
// that must find it exist.
func TestFit(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, m := range all() {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}

		names[m.name] = true

		text, err := m.change(root)
		if err == nil && strings.HasSuffix(m.file, ".go") {
			_, err = parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution)
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}

		if len(m.by) == 0 {
			t.Errorf("%s: nobody looks for it", m.name)
		}

		for _, name := range m.by {
			if !there(t, name) {
				t.Errorf("%s: there is no %s", m.name, name)
			}
		}
	}
}

// there reports whether the tests that a mutant names exist.
func there(t *testing.T, name string) bool {
	where, which, _ := strings.Cut(name, " ")
	switch {
	case tiers[name].argv != nil:
		return true
	case strings.HasSuffix(name, ".txtar"):
		_, err := os.Stat(filepath.Join(root, "testscripts", name))
		return err == nil
	case strings.HasSuffix(where, ".py"):
		_, method, _ := strings.Cut(which, ".")
		return contains(t, filepath.Join(root, where), "def "+method+"(")
	}

	test, _, _ := strings.Cut(which, "/")
	files, err := filepath.Glob(filepath.Join(root, where, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range files {
		if contains(t, file, "func "+strings.Trim(test, "^$")+"(") {
			return true
		}
	}

	return false
}

func contains(t *testing.T, file, text string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return strings.Contains(string(data), text)
}

// The output tells a test that failed from one that did not run.
func TestFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   bool
		cause  string
	}{
		{script: "echo ok"},
		{script: "echo '--- FAIL: TestA'; exit 1", want: true},
		{script: "echo '    --- FAIL: TestA/b'; exit 1", want: true},
		{script: "echo 'FAIL: test_a (T.test_a)' >&2; exit 1", want: true},
		{script: "echo 'panic: no room'; exit 2"},
		{script: "echo 'panic: test timed out after 10m0s'; exit 2", want: true}, // it waits for what the bug keeps away
		{script: "echo 'FAIL p [build failed]'; exit 1", cause: "does not compile"},
		{
			script: "echo '--- FAIL: TestA'; echo '/bin/go build -trimpath ./cmd/...: exit status " +
				"1'; exit 1",
			cause: "does not compile",
		},
		{script: "echo '--- PASS: TestA (0s)'; echo '    --- SKIP: TestA/b (0s)'",
			cause: "no test runs"},
		{script: "echo '--- PASS: TestA (0s)'; echo '--- SKIP: TestB (0s)'"},
		{script: "echo 'ok p [no tests to run]'", cause: "no test runs"},
	} {
		got, err := tier{argv: []string{"sh", "-c", c.script}}.fails(t.TempDir())
		if got != c.want || (err != nil) != (c.cause != "") ||
			err != nil && !regexp.MustCompile(c.cause).MatchString(err.Error()) {
			t.Errorf("%s: %v, %v", c.script, got, err)
		}
	}
}
