package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The core takes time, processes and chance as arguments, and prints nothing.
func TestImports(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "errors", "fmt", "io", "maps", "math", "slices", "strconv", "strings", "time",
		"github.com/go-json-experiment/json/jsontext",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep"}, sel.Sel.Name) {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s reads the clock: time.%s", file, sel.Sel.Name)
				}
			}
			return true
		})
	}
}
