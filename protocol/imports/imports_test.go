// Package imports tests what the packages of protocol, and those below fileops, import. It is a
// package of its own, because a test that reads their sources runs again after each change of one.
package imports

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

// The core takes time, processes and chance as arguments, and prints nothing. Its packages use
// those below them, and none above: wire, observe, audit, then operations, groups and queues.
func TestImports(t *testing.T) {
	const jsontext = "github.com/go-json-experiment/json/jsontext"
	const wire, observe, audit = "github.com/dpl-project/dpl/protocol/wire",
		"github.com/dpl-project/dpl/protocol/observe", "github.com/dpl-project/dpl/protocol/audit"
	const trace = "github.com/dpl-project/dpl/protocol/trace"
	const group, policy = "github.com/dpl-project/dpl/protocol/group",
		"github.com/dpl-project/dpl/protocol/group/policy"
	for pattern, ours := range map[string][]string{
		"wire/*.go":         {jsontext, "sync", "crypto/sha256", "encoding/hex"},
		"observe/*.go":      {wire},
		"trace/*.go":        {wire},
		"*.go":              {wire, observe, audit, trace},
		"group/policy/*.go": {wire, observe},
		"group/plan/*.go":   {wire, observe, group, policy},
		"group/*.go":        {wire, observe, audit, policy},
		"audit/*.go":        {wire, observe, jsontext},
		"queue/*.go":        {wire, observe, audit, trace, jsontext},
		"check/*.go":        {wire, jsontext, "path", "regexp"},
	} {
		checkImports(t, pattern, append(ours, pure...))
	}
}

// Below a ledger, only package disk makes system calls.
func TestImportsOfFiles(t *testing.T) {
	const disk, layout = "github.com/dpl-project/dpl/fileops/disk",
		"github.com/dpl-project/dpl/fileops/layout"
	const trust = "github.com/dpl-project/dpl/fileops/trust"
	const wire, audit = "github.com/dpl-project/dpl/protocol/wire",
		"github.com/dpl-project/dpl/protocol/audit"
	for pattern, ours := range map[string][]string{
		"../fileops/store/*.go":  {disk, layout, trust, wire, "io/fs", "path/filepath"},
		"../fileops/record/*.go": {disk, layout, trust, wire, audit, "io/fs", "path/filepath"},
	} {
		checkImports(t, pattern, append(ours, pure...))
	}
}

// pure packages do nothing but compute. Which functions of time do, checkImports looks at.
var pure = []string{"bytes", "cmp", "errors", "fmt", "io", "maps", "math", "math/bits", "slices",
	"strconv", "strings", "time", "unicode/utf8"}

func checkImports(t *testing.T, pattern string, allowed []string) {
	files, err := filepath.Glob(filepath.Join("..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, err)
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
			if sel, ok := n.(*ast.SelectorExpr); ok &&
				slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep"}, sel.Sel.Name) {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s reads the clock: time.%s", file, sel.Sel.Name)
				}
			}
			return true
		})
	}
}
