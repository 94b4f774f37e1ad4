// Package statusline shows a line on the terminal of a user who waits for a command.
package statusline

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Every is the time between two lines. No one reads faster.
const Every = 300 * time.Millisecond

// A Line is rewritten in place, and erased before anything else is written to the terminal. A nil
// Line shows nothing.
type Line struct {
	Out   io.Writer
	Width func() int // of the terminal; 0: it is not for us now
	shown int        // columns of the line, which is on the terminal
}

// New returns a line on stderr, which writes to os.Stderr, or nil if that is no terminal.
// It is not drawn while another
// program is in the foreground there.
func New(stderr io.Writer) *Line {
	fd := int(os.Stderr.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return &Line{Out: stderr, Width: func() int {
		columns, _, err := term.GetSize(fd)
		if err != nil || !inForeground(fd) {
			return 0
		}
		return columns
	}}
}

// Draw shows text, as far as it fits.
func (l *Line) Draw(text string) {
	width := l.Width()
	if width == 0 {
		l.shown = 0 // others have written there since
		return
	}
	text = text[:min(len(text), width-1)] // in the last column some terminals begin a new line
	io.WriteString(l.Out, "\r"+text+strings.Repeat(" ", max(l.shown-len(text), 0))+"\r")
	l.shown = len(text)
}

// Erase removes the line.
func (l *Line) Erase() {
	if l != nil && l.shown > 0 && l.Width() > 0 {
		io.WriteString(l.Out, "\r"+strings.Repeat(" ", l.shown)+"\r")
		l.shown = 0
	}
}
