package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// changed returns the mutants of all lines of Go that changed since a revision, except tests. by
// names the tests to run, and is "" for those of the package.
func changed(root, since, by string) (all []mutant, err error) {
	git := exec.Command("git", "diff", "-U0", "--no-color", "--no-ext-diff", "--relative", since, "--",
		"*.go")
	git.Dir = root
	diff, err := git.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", since, err)
	}

	lines := changedLines(string(diff))
	for _, file := range slices.Sorted(maps.Keys(lines)) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		ms, err := mutate(file, string(text), lines[file])
		if err != nil {
			return nil, err
		}
		for _, m := range ms {
			m.by = []string{by}
			if by == "" {
				m.by = []string{"./" + filepath.Dir(file)}
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// changedLines returns, by file, the lines of the new version that the output of git diff -U0 has.
func changedLines(diff string) map[string]map[int]bool {
	lines := make(map[string]map[int]bool)
	file := ""
	for line := range strings.Lines(diff) {
		if name, is := strings.CutPrefix(line, "+++ "); is {
			file = strings.TrimPrefix(strings.TrimSpace(name), "b/")
			continue
		}
		if !strings.HasPrefix(line, "@@ ") || file == "/dev/null" {
			continue
		}
		_, hunk, _ := strings.Cut(line, "+")
		hunk, _, _ = strings.Cut(hunk, " ")
		first, count, several := strings.Cut(hunk, ",")
		if !several {
			count = "1"
		}
		begin, _ := strconv.Atoi(first)
		n, _ := strconv.Atoi(count)
		for i := range n {
			if lines[file] == nil {
				lines[file] = make(map[int]bool)
			}
			lines[file][begin+i] = true
		}
	}
	return lines
}

// An operator makes bugs of one node of the syntax.
type operator struct {
	text    string
	results *ast.FieldList // of the function around the node
	add     func(n ast.Node, what, replacement string)
}

// mutate returns the mutants of the given lines of a file.
func mutate(file, text string, lines map[int]bool) (all []mutant, err error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	op := operator{text: text}
	op.add = func(n ast.Node, what, replacement string) {
		begin, end := files.Position(n.Pos()), files.Position(n.End())
		if !lines[begin.Line] {
			return
		}
		all = append(all, mutant{
			name: fmt.Sprintf("%s:%d:%d: %s", file, begin.Line, begin.Column, what),
			file: file,
			text: text[:begin.Offset] + replacement + text[end.Offset:],
		})
	}

	for _, d := range tree.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
			op.function(f.Type, f.Body)
		}
	}
	return all, nil
}

// function makes the bugs of a function, and of those in it.
func (o operator) function(of *ast.FuncType, body *ast.BlockStmt) {
	o.results = of.Results
	ast.Inspect(body, func(n ast.Node) bool {
		if inner, is := n.(*ast.FuncLit); is {
			o.function(inner.Type, inner.Body)
			return false
		}
		o.node(n)
		return true
	})
}

// node makes the bugs of n itself.
func (o operator) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		o.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			o.add(n.Cond, "the loop never runs", "false && ("+o.source(n.Cond)+")")
		}
	case *ast.RangeStmt:
		o.add(n.Body, "the loop never runs", "{ break; "+o.source(n.Body)[1:])
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			for _, cond := range c.(*ast.CaseClause).List {
				if n.Tag == nil {
					o.condition(cond)
				}
			}
		}
	case *ast.BinaryExpr:
		if other := swapped[n.Op]; other != "" {
			o.add(n, n.Op.String()+" becomes "+other, o.source(n.X)+" "+other+" "+o.source(n.Y))
		}
	case *ast.BasicLit:
		if number, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			o.add(n, n.Value+" becomes one more", strconv.FormatInt(number+1, 10))
		}
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			o.add(n, n.Name+" becomes "+other, other)
		}
	case *ast.ReturnStmt:
		o.zero(n)
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		o.drop(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			o.drop(n)
		}
	}
}

var swapped = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&",
	token.ADD: "-", token.SUB: "+", token.MUL: "+", token.QUO: "*",
}

// condition makes c always true and always false. It is still there, so what it uses stays used.
func (o operator) condition(c ast.Expr) {
	o.add(c, "always true", "true || ("+o.source(c)+")")
	o.add(c, "always false", "false && ("+o.source(c)+")")
}

// drop leaves out a statement: it becomes the body of a function that is not called.
func (o operator) drop(n ast.Node) {
	o.add(n, "left out: "+firstLine(o.source(n)), "_ = func() { "+o.source(n)+" }")
}

// zero makes a return give zero values, unless it does.
func (o operator) zero(n *ast.ReturnStmt) {
	if len(n.Results) == 0 || o.results == nil {
		return
	}
	plain := func(e ast.Expr) bool {
		return slices.Contains([]string{"nil", "0", `""`, "false"}, o.source(e))
	}
	if !slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return !plain(e) }) {
		return
	}

	var zeros []string
	for _, field := range o.results.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, "*new("+o.source(field.Type)+")")
		}
	}
	o.add(n, "returns zero values", "return "+strings.Join(zeros, ", "))
}

// source returns the text of n.
func (o operator) source(n ast.Node) string { return o.text[n.Pos()-1 : n.End()-1] }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
