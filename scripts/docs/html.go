package main

import (
	"embed"
	"html/template"
	"slices"
	"strings"
)

//go:embed html
var templates embed.FS

// A sheet is one page of HTML, and what its template shows: the same as the manual page, because
// both are made from the same command.
type sheet struct {
	Title, Summary, Version string
	Style                   template.CSS
	Commands                []*command // in the index, and to go to from each page

	// Of a command.
	Program     string
	Synopsis    []template.HTML
	Description []htmlBlock
	Parts       []htmlPart // notes, in order, each with a heading
	Own, Common []htmlItem // flags
	Environment []htmlItem
	Statuses    []htmlItem
	SeeAlso     []string
}

type htmlPart struct {
	Title  string
	Blocks []htmlBlock
}

// An htmlBlock is a paragraph, an item of a list, or code.
type htmlBlock struct {
	Term, Text template.HTML
	Code       string
}

type htmlItem struct {
	ID         string // the anchor, if it has one
	Term, Text template.HTML
}

// html adds the pages of all commands, and their index, to files.
func (g *generator) html(files map[string]string) error {
	set, err := template.ParseFS(templates, "html/*.html")
	if err != nil {
		return err
	}

	style, err := templates.ReadFile("html/style.css")
	if err != nil {
		return err
	}

	write := func(name, layout string, s sheet) error {
		s.Version, s.Style, s.Commands = g.version, template.CSS(style), g.commands
		var out strings.Builder
		if err := set.ExecuteTemplate(&out, layout, s); err != nil {
			return err
		}
		files["doc/dpl/html/"+name+".html"] = out.String()
		return nil
	}

	for _, c := range g.commands {
		if err := write(c.Program, "command.html", g.sheet(c)); err != nil {
			return err
		}
	}

	return write("index", "index.html", g.index())
}

// sheet returns the page of c.
func (g *generator) sheet(c *command) sheet {
	m := marker{known: g.commands, own: c, words: c.placeholders()}
	s := sheet{Title: c.Program, Summary: c.Summary, Program: c.Program}

	for _, line := range c.Usage {
		s.Synopsis = append(s.Synopsis, m.usage(line))
	}

	s.Description = append(s.Description, htmlBlock{Text: m.inline(c.Details)})
	s.Description = append(s.Description, m.blocks(c.notes["DESCRIPTION"])...)
	for _, title := range []string{"EXAMPLES", "FILES", "NOTES"} {
		if blocks := m.blocks(c.notes[title]); blocks != nil {
			s.Parts = append(s.Parts, htmlPart{title[:1] + strings.ToLower(title[1:]), blocks})
		}
	}

	all := common(g.commands)
	for _, f := range c.Flags {
		if all[f.Name] {
			s.Common = append(s.Common, m.flag(f))
		} else {
			s.Own = append(s.Own, m.flag(f))
		}
	}

	for _, v := range variablesOf(c) {
		s.Environment = append(s.Environment,
			htmlItem{Term: code("$" + v.name), Text: m.inline(v.meaning)})
	}
	s.Statuses = m.statuses(c.ExitStatuses, false)

	for _, b := range c.notes["SEE ALSO"] {
		s.SeeAlso = append(s.SeeAlso, strings.Fields(b.text)...)
	}
	return s
}

// index returns the page that lists the commands, and what they have in common.
func (g *generator) index() sheet {
	all := common(g.commands)
	shared := slices.DeleteFunc(slices.Clone(g.commands[0].Flags),
		func(f flagModel) bool { return !all[f.Name] })
	m := marker{known: g.commands, own: &command{Flags: shared}}
	s := sheet{Title: "Commands of DPL", Statuses: m.statuses(exitStatuses(g.commands), true)}

	for _, f := range shared {
		s.Common = append(s.Common, m.flag(f))
	}

	for _, v := range slices.Concat(variables, everywhere) {
		s.Environment = append(s.Environment,
			htmlItem{Term: code("$" + v.name), Text: m.inline(v.meaning)})
	}
	return s
}
