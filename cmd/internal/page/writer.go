package page

import (
	"strings"
	"time"
	"unicode"

	"github.com/dpl-project/dpl/cmd/internal/view"
)

// A writer writes elements. What it opens it closes, and no text or attribute can end one.
type writer struct {
	strings.Builder
	now  time.Time
	tags []string // that are open
}

// escaped returns text that is nothing but text, in an element and in an attribute, and in XML as in HTML.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range view.Clean(text) {
		switch r {
		case '&':
			out.WriteString("&amp;")
		case '<':
			out.WriteString("&lt;")
		case '>':
			out.WriteString("&gt;")
		case '"':
			out.WriteString("&quot;")
		case '\'':
			out.WriteString("&#39;")
		case 0xfffe, 0xffff: // which XML does not allow
			out.WriteRune(unicode.ReplacementChar)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// raw writes markup.
func (w *writer) raw(markup string) { w.WriteString(markup) }

func (w *writer) text(text string) { w.WriteString(escaped(text)) }

func (w *writer) tag(name string, attributes []string, end string) {
	w.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		w.WriteString(" " + attributes[i] + `="` + escaped(attributes[i+1]) + `"`)
	}
	w.WriteString(end)
}

// open begins an element, which close ends. Attributes are names and values in turn.
func (w *writer) open(name string, attributes ...string) {
	w.tag(name, attributes, ">")
	w.tags = append(w.tags, name)
}

func (w *writer) close() {
	last := len(w.tags) - 1
	w.WriteString("</" + w.tags[last] + ">")
	if w.tags = w.tags[:last]; last < 8 {
		w.WriteByte('\n')
	}
}

// void writes an element that holds nothing.
func (w *writer) void(name string, attributes ...string) { w.tag(name, attributes, "/>") }

// element writes an element with text, of a class unless that is "".
func (w *writer) element(name, class, text string) {
	if class == "" {
		w.open(name)
	} else {
		w.open(name, "class", class)
	}
	w.text(text)
	w.close()
}

// pill writes a state or a verdict.
func (w *writer) pill(word string) { w.element("span", "pill "+view.Mood(word), word) }

// time writes a time.
func (w *writer) time(t time.Time) { w.element("time", "", view.Stamp(t)) }

// fact writes a name and what it stands for, unless that is "".
func (w *writer) fact(name, value string) {
	if value == "" {
		return
	}
	w.open("span", "class", "fact")
	w.element("i", "", name)
	w.text(" " + value)
	w.close()
}
