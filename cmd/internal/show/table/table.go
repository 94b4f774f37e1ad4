package table

import (
	"slices"
	"strings"
)

// A column of a table.
type column struct {
	title, short string // short, if any, is used if there is too little space
	id           bool   // may be cut
	spare        bool   // dropped if nothing else helps
	sinks        bool   // if there is too little space, moved below the line, after the word below
	below        string
	quotes       bool     // below the line it stands behind a margin, and no blank of it is lost
	ids          []string // the full ids, once they are cut
}

const gap = 2 // spaces between two columns

// A table is a tree with columns.
type table struct {
	Style
	columns []column
	lines   []line
	widths  []int
}

// table draws trees, whose nodes come top down, under the titles of columns. Columns that do not
// fit are dropped if they are empty, moved below, or cut. It returns "" for no nodes.
func (s Style) table(columns []column, nodes []*node) string {
	if len(nodes) == 0 {
		return ""
	}

	for _, n := range nodes {
		n.clean()
	}

	var out strings.Builder
	t := &table{Style: s, columns: slices.Clone(columns), lines: s.lines(nodes)}
	t.measure()
	t.fit()
	t.title(&out)
	for _, l := range t.lines {
		t.draw(&out, l)
	}

	if s.Width > 0 {
		return out.String()
	}

	blank := "\n"
	for _, l := range t.lines {
		for _, d := range l.details {
			out.WriteString(blank + l.name + " " + d + "\n")
			blank = ""
		}
	}

	return out.String()
}

func (t *table) measure() {
	const most = 512 // in columns: a longer cell pushes the rest of its line aside
	t.widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		t.widths[i] = columns(c.title)
		for _, l := range t.lines {
			if i < len(l.cells) && !t.tail(l, i) {
				t.widths[i] = max(t.widths[i], min(t.taken(l, i), most))
			}
		}
	}
}

// taken returns the width of cell i of l, including the tree.
func (t *table) taken(l line, i int) int {
	if i == 0 {
		return columns(l.lead) + columns(l.cells[0].text)
	}
	return columns(l.cells[i].text)
}

// tail reports whether cell i of l is the rest of the line, below several titles.
func (t *table) tail(l line, i int) bool { return i == len(l.cells)-1 && i < len(t.columns)-1 }

func (t *table) width() int {
	sum := -gap
	for _, w := range t.widths {
		sum += w + gap
	}
	return sum
}

func (t *table) tooWide() bool { return t.Width > 0 && t.width() > t.Width }

// fit makes the table as narrow as necessary.
func (t *table) fit() {
	for i := len(t.columns) - 1; i > 0 && t.tooWide(); i-- {
		if t.says(i) == 0 {
			t.drop(i)
		}
	}

	for i := range t.columns {
		if c := &t.columns[i]; t.tooWide() && c.short != "" {
			c.title = c.short
			t.measure()
		}
	}

	for i := len(t.columns) - 1; i > 0 && t.tooWide(); i-- {
		if t.columns[i].sinks {
			t.moveBelow(i)
			t.drop(i)
		}
	}

	const readable, least = 12, 6 // columns that an id needs
	for t.tooWide() && t.narrow(readable) {
		continue
	}

	for i := len(t.columns) - 1; i > 0 && t.tooWide(); i-- {
		if t.columns[i].spare {
			t.drop(i)
		}
	}

	for t.tooWide() && t.narrow(least) {
		continue
	}
}

// says returns the number of cells in column i that are not empty.
func (t *table) says(i int) (n int) {
	for _, l := range t.lines {
		if i < len(l.cells) && l.cells[i].text != "-" {
			n++
		}
	}
	return n
}

func (t *table) drop(i int) {
	t.columns = slices.Delete(t.columns, i, i+1)
	for _, l := range t.lines {
		if i < len(l.cells) {
			l.cells = slices.Delete(l.cells, i, i+1)
		}
	}
	t.measure()
}

func (t *table) moveBelow(i int) {
	for _, l := range t.lines {
		switch {
		case i >= len(l.cells) || l.cells[i].text == "-" || l.cells[i].drawn:
		case t.columns[i].quotes && !t.Fold:
			l.quoted = l.cells[i].text
		default:
			l.details = append([]string{strings.TrimSpace(t.columns[i].below + " " +
				l.cells[i].text)}, l.details...)
		}
	}
}

// narrow cuts one column from the widest column of ids that is wider than least, without the tree,
// and reports whether it could.
func (t *table) narrow(least int) bool {
	widest := -1
	for i, c := range t.columns {
		if c.id && t.widths[i] > max(t.lead(i)+least, columns(c.title)) &&
			(widest < 0 || t.widths[i] > t.widths[widest]) {
			widest = i
		}
	}

	if widest < 0 {
		return false
	}
	if !t.narrowTo(widest, t.widths[widest]-1) {
		t.columns[widest].id = false // it cannot be cut further
	}
	return true
}

// lead returns the width of the tree in column i.
func (t *table) lead(i int) (width int) {
	if i > 0 {
		return 0
	}
	for _, l := range t.lines {
		width = max(width, columns(l.lead))
	}
	return width
}

func (t *table) narrowTo(i, width int) bool {
	c := &t.columns[i]
	for _, l := range t.lines[len(c.ids):] {
		c.ids = append(c.ids, l.cells[i].text)
	}

	short, ok := t.cut(c.ids, width-t.lead(i))
	if !ok {
		return false
	}

	for j, l := range t.lines {
		if t.taken(l, i) > width {
			l.cells[i].text = short[j]
		}
	}

	t.widths[i] = width
	return true
}

func (t *table) title(out *strings.Builder) {
	var line strings.Builder
	for i, c := range t.columns {
		line.WriteString(pad(c.title, columns(c.title), t.widths[i]+gap))
	}
	out.WriteString(t.paint(faint, strings.TrimRight(line.String(), " ")) + "\n")
}

func (t *table) draw(out *strings.Builder, l line) {
	out.WriteString(t.paint(faint, l.lead))
	at := columns(l.lead)
	to := 0

	for i, c := range l.cells {
		if i > 0 {
			out.WriteString(pad("", at, max(to, at+1)))
			at = max(to, at+1)
		}

		if room := t.Width - at; t.Width > 0 && t.tail(l, i) && columns(c.text) > room {
			c.text = head(c.text, max(room-columns(t.dots()), 0)) + t.dots()
		}

		out.WriteString(t.paint(c.tone, c.text))
		at += columns(c.text)
		to += t.widths[i] + gap
	}

	out.WriteByte('\n')
	if t.Width == 0 {
		return
	}

	if l.quoted != "" {
		narrower := t.Style
		narrower.Width = max(t.Width-columns(l.under), 1)
		for text := range strings.Lines(narrower.behindMargin([]string{l.quoted})) {
			out.WriteString(t.paint(faint, l.under) + text)
		}
	}
	for _, d := range l.details {
		for _, text := range t.note(d, t.Width-columns(l.under)) {
			out.WriteString(t.paint(faint, l.under) + t.paint(plain, text) + "\n")
		}
	}
}
