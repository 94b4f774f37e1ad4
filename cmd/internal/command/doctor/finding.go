package doctor

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
)

// A level is how bad a finding is.
type level string

const (
	ok      level = "ok"
	note    level = "note"
	warning level = "warning" // something may go wrong, or must be cleaned up
	problem level = "problem" // something goes wrong
	fixed   level = "fixed"   // repaired just now, by --fix
)

// A finding is what one check reports about one object.
type finding struct {
	check   string
	level   level
	object  string // "": the ledger
	text    string
	cure    string // "" if none is needed
	fixable bool   // by --fix
}

// about returns the finding that text is true of object. The parts are in the order in which they
// are printed; object and cure may be "".
func (l level) about(object, text, cure string) finding {
	return finding{level: l, object: object, text: text, cure: cure}
}

// tells returns the finding about object that t is. The cure has all commands of t.
func (l level) tells(object string, t explain.Trouble) finding {
	var cures []string
	for _, c := range t.Commands() {
		cures = append(cures, c.Command+" "+c.Does)
	}
	return l.about(object, t.What, strings.Join(cures, "; "))
}

// status returns the exit status for findings.
func status(findings []finding) int {
	if slices.ContainsFunc(findings, func(f finding) bool { return f.level == problem }) {
		return cli.StatusFalse
	}
	return cli.StatusOK
}

// line returns the finding without its level and check.
func (f finding) line() string {
	parts := slices.DeleteFunc([]string{f.object, f.text, f.cure},
		func(part string) bool { return part == "" })
	return harmless.Text(strings.Join(parts, ": "))
}

// table returns the findings for people, one per line. If width is not 0, longer lines are wrapped
// and indented below their beginning.
func table(findings []finding, quiet bool, width int) []byte {
	const column = 22
	var out strings.Builder
	for _, f := range findings {
		if quiet && (f.level == ok || f.level == note) {
			continue
		}
		text := f.line() + "\n"
		if width > 0 {
			indent := strings.Repeat(" ", column)
			text = strings.TrimLeft(cli.Wrap(f.line(), width-column, indent), " ")
		}
		fmt.Fprintf(&out, "%-8s %-12s %s", f.level, f.check, text)
	}

	return []byte(out.String())
}

// widthOf returns the width of a terminal's lines, and 0 for any other file.
func widthOf(f *os.File) int {
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return 0
	}
	return 79
}

// report returns the findings as JSON.
func report(dir string, findings []finding) cli.Object {
	all := []cli.Object{}
	for _, f := range findings {
		all = append(all, cli.Object{
			{"check", f.check}, {"level", f.level},
			{"object", cli.OrNull(f.object)},
			{"message", f.text}, {"cure", cli.OrNull(f.cure)},
			{"fixable", f.fixable},
		})
	}
	return cli.Object{{"ledger", dir},
		{"healthy", status(findings) == cli.StatusOK}, {"findings", all}}
}
