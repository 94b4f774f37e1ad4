package play

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
)

// A layout cuts lines of tables into cells, and puts lines together from cells again. The width of
// a column depends on what is in it, so it must be found anew when that is replaced.
type layout struct {
	columns []int // where the columns of the table begin that the next line may belong to
	pid     int   // the column of pids, or -1
	ps      bool  // the table is of ps, whose pids end in one column
	tables  int   // so far
	rows    []row
}

// A row is a line, cut into cells if it belongs to a table, which has a number. The number of all
// other lines is 0.
type row struct {
	cells [][]draw.Cell
	table int
}

// add adds a line whose cells were replaced; it has one if it was not cut.
func (t *layout) add(cells [][]draw.Cell, cut bool) {
	r := row{cells: cells}
	if cut {
		r.table = t.tables
	}
	t.rows = append(t.rows, r)
}

var (
	header   = regexp.MustCompile(`^[A-Z][A-Z ]*(?:  +[A-Z][A-Z ]*)+$`)
	psHeader = regexp.MustCompile(`^ *PID [A-Z]+$`)
	title    = regexp.MustCompile(`\S+(?: \S+)*`)
	aside    = regexp.MustCompile(`^\[\d+\] (\d+)$|\bdpl-(?:run|work)-(\d+)-|process (\d+) exists`)
	psRow    = regexp.MustCompile(`^ *\d+ +\S`)
)

// psWidth is the width of the pids of ps.
const psWidth = 5

// cut returns the cells of a line, or nil if it belongs to no table.
func (t *layout) cut(l draw.Line) [][]draw.Cell {
	text := l.String()
	switch {
	case psHeader.MatchString(text):
		t.columns, t.ps = nil, true
		t.tables++
		return t.cutPS(l)
	case header.MatchString(text):
		t.columns, t.pid, t.ps = nil, -1, false
		t.tables++
		for i, at := range title.FindAllStringIndex(text, -1) {
			t.columns = append(t.columns, at[0])
			if text[at[0]:at[1]] == "PID" {
				t.pid = i
			}
		}
	case text == "":
		t.columns, t.ps = nil, false
	}

	if t.ps && psRow.MatchString(text) {
		return t.cutPS(l)
	}
	if len(t.columns) == 0 || !fits(text, t.columns) {
		return nil
	}

	var cells [][]draw.Cell
	for i, begin := range t.columns {
		end := len(l.Cells)
		if i+1 < len(t.columns) {
			end = min(t.columns[i+1], end)
		}
		cells = append(cells, trim(l.Cells[min(begin, end):end]))
	}

	return cells
}

func (t *layout) cutPS(l draw.Line) [][]draw.Cell {
	cells := trim(l.Cells)
	for cells[0].Rune == ' ' {
		cells = cells[1:]
	}
	gap := slices.IndexFunc(cells, func(c draw.Cell) bool { return c.Rune == ' ' })
	return [][]draw.Cell{cells[:gap], cells[gap:]}
}

// fits reports whether a line has a gap before each column, and text in it.
func fits(text string, columns []int) bool {
	runes := []rune(text)
	for _, c := range columns[1:] {
		if c >= len(runes) {
			return false
		}
		if string(runes[c-2:c]) != "  " || runes[c] == ' ' {
			return false
		}
	}
	return true
}

// pidOf returns the pid in a line, whose cells are known if it belongs to a table, or "".
func (t *layout) pidOf(cells [][]draw.Cell, text string) string {
	found := ""
	switch {
	case t.ps && cells != nil:
		found = draw.Line{Cells: cells[0]}.String()
	case cells != nil && t.pid >= 0:
		found = draw.Line{Cells: cells[t.pid]}.String()
	}

	if found == "" {
		if match := aside.FindStringSubmatch(text); match != nil {
			found = strings.Join(match[1:], "")
		}
	}

	if strings.Trim(found, "0123456789") != "" {
		return ""
	}
	return found
}

// lines puts all lines together.
func (t *layout) lines() (all []draw.Line) {
	widths := make(map[int][]int) // by table
	for _, r := range t.rows {
		if widths[r.table] == nil {
			widths[r.table] = make([]int, len(r.cells))
		}
		for c, cell := range r.cells {
			widths[r.table][c] = max(widths[r.table][c], len(cell))
		}
	}

	for _, r := range t.rows {
		all = append(all, draw.Line{Cells: join(r.cells, widths[r.table])})
	}
	return all
}

// join returns the cells of a line in columns of some widths.
func join(row [][]draw.Cell, widths []int) (line []draw.Cell) {
	space := func(n int) {
		for range n {
			line = append(line, draw.Cell{Rune: ' '})
		}
	}

	for c, cell := range row {
		if len(row) == 2 && len(row[1]) > 0 && row[1][0].Rune == ' ' { // of ps
			if c == 0 {
				space(psWidth - len(cell))
			}
			line = append(line, cell...)
			continue
		}

		line = append(line, cell...)
		if c+1 < len(row) {
			space(widths[c] + 2 - len(cell))
		}
	}

	return line
}

func trim(cells []draw.Cell) []draw.Cell {
	for len(cells) > 0 && cells[len(cells)-1].Rune == ' ' {
		cells = cells[:len(cells)-1]
	}
	return cells
}
