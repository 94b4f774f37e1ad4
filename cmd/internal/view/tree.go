package view

// A cell is one text of a table, possibly written by others.
type cell struct {
	text  string
	tone  tone
	drawn bool // the tree already shows it
}

// A node is a line of a tree, with the details below it and its child nodes.
type node struct {
	cells    []cell   // the first one is an id, with the tree before it
	name     string   // the name of the node in a sentence
	details  []string // what the name does or is
	children []*node
}

// A line is a node with the piece of the tree before it and the piece before its details.
type line struct {
	*node
	lead, under string
}

// lines returns the lines of trees, top down.
func (s Style) lines(roots []*node) (all []line) {
	deepest := 0
	for _, n := range roots {
		deepest = max(deepest, n.levels())
	}

	t := tree{glyphs: s.glyphs(deepest), most: 10}
	if s.Width > 0 {
		t.most = max(s.Width/8, 1)
	}

	for _, n := range roots {
		t.add(n, "", "", 0)
	}
	return t.all
}

func (n *node) levels() (below int) {
	for _, c := range n.children {
		below = max(below, c.levels())
	}
	return below + 1
}

// A tree is drawn line by line. Levels deeper than most are not indented further, to leave room for
// the rest.
type tree struct {
	glyphs glyphs
	most   int
	all    []line
}

// add adds n, preceded by lead, and everything below it, preceded by under.
func (t *tree) add(n *node, lead, under string, depth int) {
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

		if depth >= t.most {
			t.add(c, lead, under, depth)
			continue
		}

		t.add(c, under+piece, under+next, depth+1)
	}
}
