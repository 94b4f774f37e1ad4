// Package screen says how to draw on what stdout is: a terminal, a pipe or a file.
package screen

import (
	"os"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/locale"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/mattn/go-runewidth"
)

// Style returns the style for drawing on stdout. The width is that of the terminal, or $COLUMNS;
// in a pipe or file lines are as wide as needed, so that no id is cut. Only terminals get colour.
func Style() table.Style {
	width, _, terminal := Size()
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && !terminal {
		width = n
	}

	term := os.Getenv("TERM")
	return table.Style{
		Width: width, ASCII: !locale.UTF8(), Wide: runewidth.EastAsianWidth,
		Colour: terminal && os.Getenv("NO_COLOR") == "" && term != "" && term != "dumb",
	}
}

// Messages returns the style for drawing on stderr, which has no colour.
func Messages() table.Style {
	style := Style()
	style.Colour = false
	style.Width, _, _ = sizeOf(os.Stderr)
	return style
}
