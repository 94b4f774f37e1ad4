package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// The names of files in a ledger, and what they are made of, are in this package alone.
func TestNamesInOnePackage(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^(\.(json|jsonl|lock|log|origin|tmp~|seen~)|\.(orchestrator|supervisors)\.json|ledger\.json|` +
		`operations|archive|logs|exits|restarts|in-use|\.dpl-.*)$`)
	here, err := filepath.Glob("../*.go")
	must(t, err)
	below, err := filepath.Glob("../*/*.go")
	must(t, err)
	commands, err := filepath.Glob("../../cmd/*/*.go")
	must(t, err)
	internal, err := filepath.Glob("../../cmd/internal/*/*.go")
	must(t, err)
	found := 0

	for _, file := range slices.Concat(here, below, commands, internal) {
		if isTest, _ := filepath.Match("*_test.go", filepath.Base(file)); isTest {
			continue
		}

		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}

			text, _ := strconv.Unquote(literal.Value)
			switch {
			case !name.MatchString(text):
			case filepath.Dir(file) == "../layout":
				found++
			case !elsewhere[filepath.Base(filepath.Dir(file))+" "+text]:
				t.Errorf("%s: %q: names of files belong in fileops/layout",
					set.Position(literal.Pos()), text)
			}

			return true
		})
	}

	if found < 10 {
		t.Errorf("fileops/layout has %d names: does this test still know them?", found)
	}
}

// elsewhere are words with another meaning there: members of JSON, checks of dpl-doctor, other
// programs' files.
var elsewhere = map[string]bool{
	"dpl-cleanup operations": true, "dpl-heartbeat operations": true,
	"dpl-status operations": true, "dpl-status restarts": true,
	"page archive": true, "page restarts": true, "dpl-doctor logs": true,
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
