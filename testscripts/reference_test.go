//go:build unix

package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const reference = "spec/reference.md"

// TestStatuses compares the table of exit statuses of spec/reference.md with the constants.
func TestStatuses(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(),
		filepath.Join(root, "cmd/internal/cli/status.go"), read(t, "cmd/internal/cli/status.go"), 0)
	if err != nil {
		t.Fatal(err)
	}

	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Status") &&
			len(v.Values) == 1 {
			want = append(want, v.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})

	var got []string
	for _, row := range rows(read(t, reference), `\d+(?:, \d+)*`) {
		got = append(got, strings.Split(row, ", ")...)
	}

	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("spec/reference.md has the exit statuses %v, status.go %v", got, want)
	}
}

// TestCommands compares the commands and flags that the spec/reference.md names with those that there are.
func TestCommands(t *testing.T) {
	t.Parallel()
	text := read(t, reference)
	dirs, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*"))
	if err != nil {
		t.Fatal(err)
	}

	var want []string
	flags := map[string]bool{}
	bin := built(t)

	for _, dir := range dirs {
		name := filepath.Base(dir)
		want = append(want, name)
		help, err := exec.Command(filepath.Join(bin, name), "--help").Output()
		if err != nil {
			t.Fatalf("%s --help: %v", name, err)
		}

		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(string(help), -1) {
			flags[flag] = true
		}
	}

	got := rows(text, "`(dpl-[a-z]+)`")
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("spec/reference.md has the commands %v, cmd %v", got, want)
	}

	for _, flag := range regexp.MustCompile(`--[a-z]+[a-z-]*`).FindAllString(text, -1) {
		if !flags[flag] {
			t.Errorf("spec/reference.md names %s, which no command has (%v)", flag,
				slices.Sorted(maps.Keys(flags)))
		}
	}

	for _, word := range regexp.MustCompile("`(dpl-[a-z]+)[ `]").FindAllStringSubmatch(text, -1) {
		if !slices.Contains(want, word[1]) {
			t.Errorf("spec/reference.md names %s, which is not in cmd", word[1])
		}
	}
}

// TestDependencies looks for a reason behind each module in go.mod that is required directly.
func TestDependencies(t *testing.T) {
	direct := regexp.MustCompile(`(?m)^\t\S+ v\S+(?: // (.*))?$`).FindAllStringSubmatch(read(t,
		"go.mod"), -1)
	for _, module := range direct {
		if module[1] == "" {
			t.Errorf("%s: want a reason", module[0])
		}
	}

	if len(direct) == 0 {
		t.Error("no modules in go.mod")
	}
}
