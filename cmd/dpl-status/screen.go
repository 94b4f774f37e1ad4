package main

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/view"
)

// screen returns how to draw on stdout: as wide as the terminal, or $COLUMNS; in a pipe or file as wide as need be, so that no id is
// cut. Colour is for terminals alone.
func screen() view.Style {
	width, _, terminal := terminalSize()
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && !terminal {
		width = n
	}
	term := os.Getenv("TERM")
	return view.Style{
		Width: width, ASCII: !readsUTF8(),
		Colour: terminal && os.Getenv("NO_COLOR") == "" && term != "" && term != "dumb",
	}
}

// readsUTF8 reports whether the locale says that what reads the output understands UTF-8.
func readsUTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
