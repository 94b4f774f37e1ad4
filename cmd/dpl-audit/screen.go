package main

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/dpl-project/dpl/cmd/internal/view"
)

// screen returns the style for drawing on stdout. Lines are cut at the width of the terminal, or at
// $COLUMNS, but not in a pipe or file. Only terminals get colour.
func screen() view.Style {
	fd := int(os.Stdout.Fd())
	terminal := term.IsTerminal(fd)
	width, _, _ := term.GetSize(fd)
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && !terminal {
		width = n
	}

	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	kind := os.Getenv("TERM")
	return view.Style{
		Width: width, ASCII: !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8"),
		Colour: terminal && os.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb",
	}
}
