package pager

import (
	"fmt"
	"strings"
)

// Escape sequences.
const (
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
	reverse   = "\x1b[7m"
	straight  = "\x1b[27m"
)

// Frame returns the escape sequences that replace the screen with the part that p shows, and a line
// below it that says where it is. faint paints what is less important.
func (p *Pager) Frame(faint func(string) string) string {
	p.clamp()
	lines := p.Lines[p.top:min(p.top+p.room(), len(p.Lines))]
	if p.help {
		lines = strings.Split(help, "\n")
		lines = lines[:min(len(lines), p.room())]
	}

	var shown []string
	for i, line := range lines {
		switch {
		case p.help:
		case p.marked && p.top+i == p.current:
			line = reverse + Plain(line) + straight
		case p.found != nil:
			line = p.highlight(line)
		}
		shown = append(shown, line)
	}
	if p.Height > 1 {
		shown = append(shown, "")
	}
	if p.typing {
		shown = append(shown, "/"+p.typed+reverse+" "+straight)
	} else {
		shown = append(shown, faint(p.foot()))
	}
	return home + strings.Join(shown, clearLine+"\r\n") + clearLine + clearRest
}

// foot says what part is shown, and which keys to press.
func (p *Pager) foot() string {
	var all []string
	switch hidden := len(p.Lines) > p.room(); {
	case p.message != "":
		all = append(all, p.message)
	case hidden && p.room() > 0:
		all = append(all, fmt.Sprintf("lines %d to %d of %d", p.top+1, p.top+p.room(), len(p.Lines)))
	case hidden:
		all = append(all, fmt.Sprintf("%d lines", len(p.Lines)))
	}
	if n := len(p.Trouble); n > 0 && !p.Deaf {
		all = append(all, fmt.Sprintf("%d in trouble: t", n))
	}

	keys := "q quits, ? shows the keys"
	if p.Deaf {
		keys = "Ctrl-C ends this"
	}
	return strings.Join(append(all, keys, p.Foot), "; ")
}

// highlight returns line with what was searched in reverse.
func (p *Pager) highlight(line string) string {
	matches := p.found.FindAllStringIndex(Plain(line), -1)
	if matches == nil {
		return line
	}

	var out strings.Builder
	at, inside := 0, false // in the plain line
	for line != "" {
		if len(matches) > 0 && at == matches[0][1] && inside {
			out.WriteString(straight)
			inside, matches = false, matches[1:]
		}
		if color, rest := cutColor(line); color != "" {
			out.WriteString(color)
			if inside {
				out.WriteString(reverse) // a color may have ended it
			}
			line = rest
			continue
		}
		if len(matches) > 0 && at == matches[0][0] && !inside {
			out.WriteString(reverse)
			inside = true
		}
		out.WriteByte(line[0])
		line = line[1:]
		at++
	}
	if inside {
		out.WriteString(straight)
	}
	return out.String()
}
