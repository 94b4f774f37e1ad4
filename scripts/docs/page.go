package main

import (
	"fmt"
	"slices"
	"strings"
)

// page returns the manual page of c, in the macros of man(7).
func (g *generator) page(c *command) (string, error) {
	p := &page{words: c.placeholders()}
	p.line(`.TH %s 1 "%s" "DPL %s" "DPL Manual"`, roff(strings.ToUpper(c.Program)),
		g.day.Format("2006-01-02"), g.version)
	p.line(".nr HY 0\n.nh\n.ad l") // a command must not be broken, and at 60 columns lines get holes
	p.section("NAME")
	p.line(`%s \- %s`, roff(c.Program), roff(lowerFirst(strings.TrimSuffix(c.Summary, "."))))
	p.section("SYNOPSIS")
	for _, line := range c.Usage {
		p.line(".SY %s\n%s\n.YS", roff(c.Program), usage(line))
	}

	p.section("DESCRIPTION")
	p.line("%s", inline(c.Details, p.words))
	p.blocks(c.notes["DESCRIPTION"])
	g.options(p, c)
	p.section("ENVIRONMENT")
	for _, v := range variablesOf(c) {
		p.item(bold("$"+v.name), v.meaning)
	}

	p.blocks(c.notes["ENVIRONMENT"])
	p.section("EXIT STATUS")
	for _, s := range c.ExitStatuses {
		p.item(bold(s.Status), s.Meaning)
	}

	p.section("FILES")
	p.blocks(c.notes["FILES"])
	p.item(italic("~/.local/state/dpl"),
		"The ledger, unless --ledger, $DPL_LEDGER or $XDG_STATE_HOME tells another. Its files are described in `dpl-ledger`(5).")

	for _, title := range []string{"NOTES", "EXAMPLES"} {
		if blocks := c.notes[title]; blocks != nil {
			p.section(title)
			p.blocks(blocks)
		}
	}

	p.section("SEE ALSO")
	also, err := g.seeAlso(c)
	p.line("%s", strings.Join(also, ",\n"))

	return p.out.String(), err
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// options adds the flags of c, those that all commands have last.
func (g *generator) options(p *page, c *command) {
	p.section("OPTIONS")
	p.line("%s", inline("A time span D is a number with a unit, like 500ms, 10s or 1m30s, or bare seconds. A flag and its value may be one word, `--op=build`, or two.", []string{"D"}))
	all := common(g.commands)

	for _, f := range c.Flags {
		if !all[f.Name] {
			p.flag(f)
		}
	}

	p.line(`.SS "Options of every command"`)
	for _, f := range c.Flags {
		if all[f.Name] {
			p.flag(f)
		}
	}
}

// seeAlso returns the pages to which the page of c refers: those named in its notes, and the
// overviews.
func (g *generator) seeAlso(c *command) (pages []string, err error) {
	for _, b := range c.notes["SEE ALSO"] {
		for name := range strings.FieldsSeq(b.text) {
			if !slices.ContainsFunc(g.commands,
				func(c *command) bool { return c.Program == name }) {
				return nil, fmt.Errorf("SEE ALSO: there is no %s", name)
			}
			pages = append(pages, bold(name)+"(1)")
		}
	}

	return append(pages, bold("dpl-ledger")+"(5)", bold("dpl")+"(7)"), nil
}

// A page is a manual page that is being written.
type page struct {
	out    strings.Builder
	words  []string // its placeholders
	begins bool     // a section does, so that no paragraph has to
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(&p.out, format+"\n", args...)
	p.begins = false
}

func (p *page) section(title string) {
	p.line(".SH %s", quoted(title))
	p.begins = true
}

func quoted(title string) string {
	if strings.Contains(title, " ") {
		return `"` + title + `"`
	}
	return title
}

func (p *page) item(term, text string) { p.line(".TP\n%s\n%s", term, inline(text, p.words)) }

func (p *page) flag(f flagModel) {
	term := bold("--" + f.Name)
	if f.Short != "" {
		term = bold("-"+f.Short) + ", " + term
	}
	if f.Value != "" {
		term += " " + usage(f.Value)
	}

	p.item(term, f.text())
}

// text returns what the flag does, in sentences.
func (f flagModel) text() string {
	text := upperFirst(f.Help)
	if word, rest, found := strings.Cut(f.Help, ":"); found && slices.Contains(f.Values, word) {
		text = "`" + word + "`:" + rest
	}
	if f.Values != nil && strings.Join(f.Values, "|") != f.Value {
		text += ". " + f.Value + " is `" + strings.Join(f.Values, "`, `") + "`"
	}
	if f.Repeated {
		text += ". May be repeated"
	}
	return text + "."
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// blocks adds what is written by hand.
func (p *page) blocks(blocks []block) {
	for _, b := range blocks {
		if b.term == "" && !p.begins {
			p.line(".PP")
		}

		switch {
		case b.code != nil:
			p.line(".RS 4\n.EX")
			for _, line := range b.code {
				p.line("%s", roff(line))
			}
			p.line(".EE\n.RE")
		case b.term != "":
			p.item(inline(b.term, p.words), b.text)
		default:
			p.line("%s", inline(b.text, p.words))
		}
	}
}
