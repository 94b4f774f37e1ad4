//go:build unix

package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A word is what the pages, the helps and the messages call an idea, and the other words for it,
// which they do not use.
type word struct {
	want   string
	others *regexp.Regexp
}

var words = []word{
	{"service, which a group keeps running (a supervisor is told of crashed calls)",
		regexp.MustCompile(`(?i)registered supervisor|supervisors? (of|in) (a|the|this|each) group|groups? of supervisors`)},
	{"send a heartbeat", regexp.MustCompile(`(?i)\b(to|must|should|can|may|will|not) beat\b|\bbeats? (for|as|on|in|every)\b|\bbeaten\b|\bbeating\b`)},
	{"pass", regexp.MustCompile(`(?i)\b(reconcil|sweep)\w*|\b(this|very|one|the|later|each|every) tick\b`)},
	{"caller", regexp.MustCompile(`(?i)\bparent (call|frame)s?\b`)},
}

// TestOneWordPerIdea looks for other words than those of the glossary (dpl(7)) in what users read.
func TestOneWordPerIdea(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for program, help := range helps(t) {
		texts[program+" --help"] = help
	}

	for place, message := range messages(t) {
		texts[place] = message
	}

	if len(texts) < 300 {
		t.Fatalf("found %d texts alone", len(texts))
	}

	for place, text := range texts {
		for _, w := range words {
			for _, other := range w.others.FindAllString(text, -1) {
				t.Errorf("%s: says %q: want %s", place, other, w.want)
			}
		}
	}
}

// pages returns the pages by name, without what is code in them.
func pages(t *testing.T) map[string]string {
	code := regexp.MustCompile("(?ms)^```.*?^```|^    [^\n]*$|`[^`]*`")
	texts := make(map[string]string)
	for _, pattern := range []string{"*.md", "spec/*.md", "scripts/docs/*.[1-9]", "scripts/docs/notes/*.txt", "cmd/internal/command/*/manual.txt"} {
		names, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}

		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = code.ReplaceAllString(string(data), "")
		}
	}

	return texts
}

// helps returns the help of each command.
func helps(t *testing.T) map[string]string {
	programs, err := filepath.Glob(filepath.Join("..", "cmd", "dpl*"))
	if err != nil || len(programs) < 10 {
		t.Fatal(programs, err)
	}

	texts := make(map[string]string)
	for _, p := range programs {
		program := filepath.Base(p)
		help, err := exec.Command(filepath.Join(built(t), program), "--help").Output()
		if err != nil {
			t.Fatalf("%s --help: %v", program, err)
		}
		texts[program] = string(help)
	}

	return texts
}

// messages returns the texts that the code makes messages of, by their places.
func messages(t *testing.T) map[string]string {
	makers := []string{"New", "Errorf", "Usagef", "Warnf", "Logf", "Sprintf", "Fprintf"}
	texts := make(map[string]string)
	set := token.NewFileSet()
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}

		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}

		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}

			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(makers, f.Sel.Name) {
				return true
			}

			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
						texts[set.Position(text.Pos()).String()], _ = strconv.Unquote(text.Value)
					}
					return true
				})
			}

			return true
		})

		return nil
	}

	for _, dir := range []string{"cmd", "fileops", "protocol"} {
		if err := filepath.WalkDir(filepath.Join("..", dir), visit); err != nil {
			t.Fatal(err)
		}
	}

	return texts
}
