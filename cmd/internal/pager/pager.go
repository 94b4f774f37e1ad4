// Package pager shows a part of a text on a terminal, and lets a person move in it and search it,
// as less does. The text may be another one at any time: the part stays the same. It is pure: keys
// in, escape sequences out.
package pager

import (
	"regexp"
	"strings"
	"unicode"
)

// A Pager shows a part of Lines.
type Pager struct {
	Lines    []string // may have colors
	Trouble  []int    // the lines to be seen first, in order
	Height   int
	Foot     string // what the last line says, besides the keys
	Deaf     bool   // there is no keyboard
	Unfolded bool   // the person wants to see long notes in full

	top     int  // the first line shown
	current int  // the line that was found last; -1: none, since the part was moved
	marked  bool // it is shown in reverse
	found   *regexp.Regexp
	typing  bool // a search is being typed
	typed   string
	help    bool
	message string // in place of the position, until the next key
}

// help is what ? shows.
const help = `Keys

  up, k, down, j            one line up or down
  page up, b, page down,    one page up or down
    space
  home, g, end, G           to the first or last line
  t                         to the next line in trouble
  /TEXT                     search, ignoring case
  n, N                      to the next or previous match
  escape                    forget the search
  f                         show long notes in full, or fold them
  q                         quit

Any key returns.`

// Press does what a key asks for. It reports whether the person wants to quit.
func (p *Pager) Press(k Key) (quit bool) {
	p.message = ""
	if k != 't' {
		p.marked = false
	}
	switch {
	case p.typing:
		p.typeKey(k)
		return false
	case p.help:
		p.help = false
		return false
	}

	switch k {
	case 'q', 'Q':
		return true
	case '?', 'h':
		p.help = true
	case '/':
		p.typing, p.typed = true, ""
	case 'f':
		p.Unfolded = !p.Unfolded
	case 't':
		p.toTrouble()
	case 'n':
		p.search(1)
	case 'N':
		p.search(-1)
	case Escape:
		p.found = nil
	default:
		p.scroll(k)
	}
	return false
}

// scroll moves the part that is shown.
func (p *Pager) scroll(k Key) {
	page := max(p.room()-1, 1)
	switch k {
	case Up, 'k':
		p.top--
	case Down, 'j', Enter:
		p.top++
	case PageUp, 'b':
		p.top -= page
	case PageDown, ' ':
		p.top += page
	case Home, 'g':
		p.top = 0
	case End, 'G':
		p.top = len(p.Lines)
	default:
		return
	}
	p.clamp()
	p.current = -1
}

// clamp keeps the part inside the text.
func (p *Pager) clamp() {
	p.top = max(min(p.top, len(p.Lines)-p.room()), 0)
}

// room returns the number of lines that are shown at once.
func (p *Pager) room() int { return max(p.Height-2, 0) }

// show moves the part so that line is in it, at the top if it was not.
func (p *Pager) show(line int) {
	p.current = line
	if line < p.top || line >= p.top+p.room() {
		p.top = line
	}
	p.clamp()
}

// typeKey edits the search that is being typed.
func (p *Pager) typeKey(k Key) {
	const clear = 'U' - '@' // Ctrl-U
	switch {
	case k == Escape || k == Backspace && p.typed == "":
		p.typing = false
	case k == Backspace:
		all := []rune(p.typed)
		p.typed = string(all[:len(all)-1])
	case k == clear:
		p.typed = ""
	case k == Enter:
		p.typing = false
		if p.typed != "" {
			p.found = regexp.MustCompile("(?i)" + regexp.QuoteMeta(p.typed))
			p.current = -1
			p.search(1)
		}
	case unicode.IsPrint(rune(k)):
		p.typed += string(rune(k))
	}
}

// search shows the next line that matches, or the one before, and goes on at the other end.
func (p *Pager) search(by int) {
	if p.found == nil {
		p.message = "nothing was searched: /TEXT does"
		return
	}
	n, from := len(p.Lines), p.current
	if from < 0 {
		from = p.top - 1
	}
	for i := 1; i <= n; i++ {
		line := ((from+by*i)%n + n) % n
		if p.found.MatchString(Plain(p.Lines[line])) {
			p.show(line)
			return
		}
	}
	p.message = "not found"
}

// toTrouble shows the next line in trouble, and then the first one again.
func (p *Pager) toTrouble() {
	if len(p.Trouble) == 0 {
		p.message = "nothing is in trouble"
		return
	}

	line := p.Trouble[0]
	for _, next := range p.Trouble {
		if next >= p.top && !p.marked || p.marked && next > p.current {
			line = next
			break
		}
	}
	p.show(line)
	p.marked = true
}

// Plain returns line without its colors.
func Plain(line string) string {
	if !strings.Contains(line, "\x1b[") {
		return line
	}

	var out strings.Builder
	for line != "" {
		color, rest := cutColor(line)
		if color == "" {
			out.WriteByte(line[0])
			rest = line[1:]
		}
		line = rest
	}
	return out.String()
}

// cutColor returns the escape sequence at the beginning of line that sets colors, or "", and the
// rest.
func cutColor(line string) (color, rest string) {
	after, is := strings.CutPrefix(line, "\x1b[")
	if !is {
		return "", line
	}
	end := strings.IndexByte(after, 'm')
	if end < 0 || strings.Trim(after[:end], "0123456789;") != "" {
		return "", line
	}
	end += len(line) - len(after) + 1
	return line[:end], line[end:]
}
