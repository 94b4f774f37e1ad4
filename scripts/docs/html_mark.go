package main

import (
	"html"
	"html/template"
	"slices"
	"strings"
)

// A marker turns text about a command into HTML: code, placeholders, and links to flags and to
// other commands.
type marker struct {
	known []*command
	own   *command
	words []string // placeholders
}

func code(text string) template.HTML {
	return template.HTML("<code>" + html.EscapeString(text) + "</code>")
}

func link(to, text string) template.HTML {
	return template.HTML(`<a href="`+html.EscapeString(to)+`">`) + code(text) + "</a>"
}

// inline returns text, with flags, variables, commands and text in backquotes as code. The sections
// of manual pages, which follow the names of commands, are left out.
func (m marker) inline(text string) template.HTML {
	text = strings.ReplaceAll(text, "`(1)", "`")
	var out template.HTML
	last := 0
	for _, at := range marked.FindAllStringIndex(text, -1) {
		out += template.HTML(html.EscapeString(text[last:at[0]]))
		out += m.word(text[at[0]:at[1]])
		last = at[1]
	}
	return out + template.HTML(html.EscapeString(text[last:]))
}

// word returns one word that is marked.
func (m marker) word(word string) template.HTML {
	name, _, _ := strings.Cut(word, "(")
	switch {
	case word[0] == '`' && m.isCommand(strings.Trim(word, "`")):
		return link(strings.Trim(word, "`")+".html", strings.Trim(word, "`"))
	case word[0] == '`':
		return code(strings.Trim(word, "`"))
	case slices.Contains(m.words, word):
		return template.HTML("<var>" + html.EscapeString(word) + "</var>")
	case m.isCommand(name) && name != m.own.Program:
		return link(name+".html", name)
	case strings.HasPrefix(word, "--") && m.hasFlag(word[2:]):
		return link("#"+word[2:], word)
	case word[0] == '-' || word[0] == '$' || strings.HasPrefix(word, "dpl-") ||
		strings.Contains(word, "_") || word == "HOME":
		return code(name)
	}
	return template.HTML(html.EscapeString(word))
}

func (m marker) isCommand(name string) bool {
	return slices.ContainsFunc(m.known, func(c *command) bool { return c.Program == name })
}

func (m marker) hasFlag(name string) bool {
	return slices.ContainsFunc(m.own.Flags, func(f flagModel) bool { return f.Name == name })
}

// usage returns a line of a synopsis, or the value of a flag.
func (m marker) usage(line string) template.HTML {
	var out template.HTML
	last := 0
	for _, at := range usageWord.FindAllStringIndex(line, -1) {
		out += template.HTML(html.EscapeString(line[last:at[0]]))
		word := line[at[0]:at[1]]
		last = at[1]

		switch {
		case word == "flags" || word[0] >= 'A' && word[0] <= 'Z':
			out += template.HTML("<var>" + word + "</var>")
		case strings.HasPrefix(word, "--") && m.hasFlag(word[2:]):
			out += template.HTML(`<a href="#` + word[2:] + `">` + word + "</a>")
		default:
			out += template.HTML(html.EscapeString(word))
		}
	}
	return out + template.HTML(html.EscapeString(line[last:]))
}

// flag returns an item that explains a flag.
func (m marker) flag(f flagModel) htmlItem {
	term := code("--" + f.Name)
	if f.Short != "" {
		term = code("-"+f.Short) + ", " + term
	}
	if f.Value != "" {
		term += template.HTML(" <code>") + m.usage(f.Value) + "</code>"
	}
	return htmlItem{ID: f.Name, Term: term, Text: m.inline(f.text())}
}

// statuses returns items that explain exit statuses: of all commands, or of one.
func (m marker) statuses(statuses []exitStatus, ofAll bool) (items []htmlItem) {
	for _, s := range statuses {
		meaning := s.Meaning
		if ofAll {
			meaning = s.OfAll
		}
		items = append(items, htmlItem{Term: code(s.Status), Text: m.inline(meaning)})
	}
	return items
}

// blocks returns what is written by hand.
func (m marker) blocks(blocks []block) (all []htmlBlock) {
	for _, b := range blocks {
		all = append(all, htmlBlock{Term: m.inline(b.term), Text: m.inline(b.text),
			Code: strings.Join(b.code, "\n")})
	}
	return all
}
