package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// All lessons name functions that exist, and compile together.
func TestFit(t *testing.T) {
	t.Parallel()
	const root = "../.."
	edited := make(map[string]string)
	names := make(map[string]bool)
	args := []string{"build"}
	for _, l := range lessons {
		m, err := l.mutant(root, edited)
		if err != nil {
			t.Error(err)
			continue
		}
		if names[l.name] || l.why == "" || len(l.by) == 0 {
			t.Errorf("%q: another one has that name, or it has no reason or no tests", l.name)
		}
		names[l.name], edited[m.file] = true, m.text
		args = append(args, "./"+filepath.Dir(m.file))
	}

	h := hunter{root: root}
	overlay, err := build.Overlay(t.TempDir(), root, edited)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := h.run(overlay, args...); !ok {
		t.Errorf("with all of them, %q fails: %v", args, err)
	}
}

// The operators find what the tests of a package leave open, on the lines that changed, and nothing
// in a package whose tests look at everything.
func TestOperators(t *testing.T) {
	t.Parallel()
	const untested = "package sign\n\n// Odd has no tests.\nfunc Odd(n int) bool { return n%2 == 1 }\n"
	const before = untested + "\nfunc Sign(int) string { return \"\" }\n"
	const after = untested + `
func Sign(n int) string {
	if n > 0 {
		return "plus"
	}
	return "minus"
}
`
	for name, c := range map[string]struct {
		test string
		want []string
	}{
		"open": {`Sign(5) != "plus" || Sign(-5) != "minus"`,
			[]string{"a.go:7:5: > becomes >=", "a.go:7:9: 0 becomes one more"}},
		"closed": {`Sign(1) != "plus" || Sign(0) != "minus"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, "go.mod", "module sign\n")
			write(t, root, "a.go", before)
			write(t, root, "a_test.go", "package sign\n\nimport \"testing\"\n\n"+
				"func TestSign(t *testing.T) {\n\tif "+c.test+" {\n\t\tt.Fail()\n\t}\n}\n")
			git(t, root, "init", "-q")
			git(t, root, "add", ".")
			git(t, root, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "before")
			write(t, root, "a.go", after)

			all, err := changed(root, "HEAD", "")
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, m := range all {
				result, err := hunter{root: root}.hunt(m)
				if err != nil {
					t.Fatal(err)
				}
				if result == survived {
					got = append(got, m.name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("of %d mutants, these survive: %q, want %q", len(all), got, c.want)
			}
		})
	}
}

// Each operator makes the bugs that it says, and each of them can be parsed.
func TestMutate(t *testing.T) {
	t.Parallel()
	const text = `package a

func f(n int, all []int) (int, error) {
	for i := 0; i < n && true; i++ {
		n += g()
	}
	for range all {
		g()
	}
	switch {
	case n == 1:
		return n, nil
	}
	return 0, nil
}
`
	lines := make(map[int]bool)
	for i := range 20 {
		lines[i] = true
	}
	all, err := mutate("a.go", text, lines)
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, m := range all {
		got = append(got, m.name)
		if _, err := mutate("a.go", m.text, nil); err != nil {
			t.Errorf("%s: %v:\n%s", m.name, err, m.text)
		}
	}
	want := []string{
		"a.go:4:14: the loop never runs",
		"a.go:4:11: 0 becomes one more",
		"a.go:4:14: && becomes ||",
		"a.go:4:14: < becomes <=",
		"a.go:4:23: true becomes false",
		"a.go:4:29: left out: i++",
		"a.go:5:3: left out: n += g()",
		"a.go:7:16: the loop never runs",
		"a.go:8:3: left out: g()",
		"a.go:11:7: always true",
		"a.go:11:7: always false",
		"a.go:11:7: == becomes !=",
		"a.go:11:12: 1 becomes one more",
		"a.go:12:3: returns zero values",
		"a.go:14:9: 0 becomes one more",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}
