package table

import (
	"cmp"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
)

// A cell is one text of a table, possibly written by others.
type cell struct {
	text  string
	tone  tone
	drawn bool // the tree already shows it
}

// A node is a line of a tree, with the details below it.
type node struct {
	depth   int
	cells   []cell   // the first one is an id, with the tree before it
	name    string   // the name of the node in a sentence
	quoted  string   // a text written by others, below the line
	details []string // what the name does or is

	children []*node // set by plant
}

// clean leaves no text of n empty or unsafe.
func (n *node) clean() {
	n.name = harmless.Text(n.name)
	for i := range n.cells {
		n.cells[i].text = harmless.Text(cmp.Or(n.cells[i].text, "-"))
	}
	for i := range n.details {
		n.details[i] = harmless.Text(n.details[i])
	}
}

// plant links nodes and returns the roots. Each node must follow its parent.
func plant(nodes []*node) (roots []*node) {
	var path []*node
	for _, n := range nodes {
		if path = append(path[:n.depth], n); n.depth == 0 {
			roots = append(roots, n)
			continue
		}
		parent := path[n.depth-1]
		parent.children = append(parent.children, n)
	}
	return roots
}

// A line is a node with the piece of the tree before it and the piece before its details.
type line struct {
	*node
	lead, under string
}

// lines returns the lines of the trees of nodes.
func (s Style) lines(nodes []*node) []line {
	levels := 0
	for _, n := range nodes {
		levels = max(levels, n.depth+1)
	}

	t := tree{glyphs: s.glyphs(levels), most: 10}
	if s.Width > 0 {
		t.most = max(s.Width/8, 1)
	}

	for _, n := range plant(nodes) {
		t.add(n, "", "")
	}
	return t.all
}

// A tree is drawn line by line. Levels deeper than most are not indented further, to leave room for
// the rest.
type tree struct {
	glyphs glyphs
	most   int
	all    []line
}

// add adds n, preceded by lead, and everything below it, preceded by under.
func (t *tree) add(n *node, lead, under string) {
	below := t.glyphs.gap
	if len(n.children) > 0 {
		below = t.glyphs.stem
	}

	t.all = append(t.all, line{n, lead, under + below})
	for i, c := range n.children {
		piece, next := t.glyphs.branch, t.glyphs.stem
		if i == len(n.children)-1 {
			piece, next = t.glyphs.last, t.glyphs.gap
		}

		if n.depth >= t.most {
			t.add(c, lead, under)
		} else {
			t.add(c, under+piece, under+next)
		}
	}
}
