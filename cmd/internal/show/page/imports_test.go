package page

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Templates and the tables of text widths slow down the start of every command that links them, so
// commands that start often must not link them.
func TestOnlyStatusDrawsPages(t *testing.T) {
	const top = "../../.."
	costly := []string{
		"html/template", "text/template", "github.com/mattn/go-runewidth",
		"github.com/dpl-project/dpl/cmd/internal/show/page",
		"github.com/dpl-project/dpl/cmd/internal/show/table",
	}

	allowed := []string{"internal/command/status", "internal/command/answer",
		"internal/command/audit", "internal/screen",
		"internal/show/page", "internal/show/table"}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}

		dir, err := filepath.Rel(top, filepath.Dir(path))
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if slices.Contains(costly, name) && !slices.Contains(allowed, filepath.ToSlash(dir)) {
				t.Errorf("%s imports %s", path, name)
			}
		}

		return err
	})

	if err != nil {
		t.Fatal(err)
	}
}
