package page

import "github.com/dpl-project/dpl/cmd/internal/explain"

// A tree has lines, each with the lines below it.
type tree struct {
	Heading string
	Lines   *list
	Filter  *filter
	Empty   string // what to say where there are no lines
}

// A line is an item of a tree.
type line struct {
	ID      string
	Pills   []string // states and verdicts
	Facts   []fact
	Details []string // further text
	Quote   []string // lines of a text written by others
	Level   int      // of one that is too deep to be indented; otherwise 0
	Below   *list

	depth int
	kind  kind
}

// A list has lines that are shown, and others that are folded, because there are many and nothing
// is wrong with them.
type list struct {
	Shown  []*line
	Folded *list
	What   string // the name of a line
	kinds  kinds
	size   int // with all that is below
}

// These limit what is shown of a tree at once.
const (
	smallTree = 40 // lines are shown all
	fewQuiet  = 4  // lines in which nothing is wrong, of one list
	deepest   = 12 // levels are indented, because phones are narrow, and browsers limit nesting
)

// planted returns lines as a list. Each follows the line above it in the tree. If there are many, it
// folds the quiet ones: lines in trouble are always shown, with those above them, and so are the
// roots unless there are many. what is the name of a line.
func planted(lines []line, what string) *list {
	if len(lines) == 0 {
		return nil
	}

	root, path := &list{What: what}, []*list{}
	path = append(path, root)
	for i := range lines {
		l := &lines[i]
		depth := min(l.depth, deepest)
		if l.depth > deepest {
			l.Level = l.depth
		}
		for len(path) <= depth {
			above := path[len(path)-1].last()
			above.Below = &list{What: what}
			path = append(path, above.Below)
		}
		path = path[:depth+1]
		path[depth].Shown = append(path[depth].Shown, l)
	}

	root.count()
	if len(lines) > smallTree {
		root.fold(true)
	}
	return root
}

func (l *list) last() *line { return l.Shown[len(l.Shown)-1] }

// count sets the kinds and sizes of l, and of all lists below.
func (l *list) count() {
	for _, line := range l.Shown {
		l.size++
		l.kinds[line.kind] = true
		if b := line.Below; b != nil {
			b.count()
			l.size += b.size
			l.kinds = l.kinds.or(b.kinds)
		}
	}
}

// fold moves quiet lines of l out of sight: those beyond the first few of a list, and everything
// below a quiet line but a root.
func (l *list) fold(roots bool) {
	rest := &list{What: l.What}
	var shown []*line
	quiet := 0
	for _, line := range l.Shown {
		loud := line.Kinds()[inTrouble]
		if !loud {
			quiet++
		}
		if !loud && quiet > fewQuiet {
			rest.Shown = append(rest.Shown, line)
			continue
		}

		shown = append(shown, line)
		switch b := line.Below; {
		case b == nil:
		case loud || roots:
			b.fold(false)
		case b.size > fewQuiet:
			line.Below = &list{Folded: b, What: l.What}
		}
	}

	l.Shown = shown
	if len(rest.Shown) > 0 {
		rest.count()
		l.Folded = rest
	}
}

// Kinds returns the kinds of l and of everything below it.
func (l *line) Kinds() (all kinds) {
	all[l.kind] = true
	if l.Below != nil {
		all = all.or(l.Below.kinds)
	}
	return all
}

// Class returns the classes of l, for filters.
func (l *line) Class() string { return l.Kinds().class() }

// Class returns the classes of what is folded.
func (l *list) Class() string { return l.kinds.class() }

// Text says what is folded.
func (l *list) Text() string { return explain.Plural(l.size, "more "+l.What) + ", none in trouble" }
