package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// A Manual is what the help of a command says. All of it is constant, so that a start makes nothing
// of it.
//
// Flags and Exits are tables: a line with a name, and below it, after a tab, the lines of its text.
type Manual struct {
	Summary  string // what the command does, in one line
	Usage    string // how it is called, one line each, without its name
	Details  string // a paragraph, of lines
	Flags    string // the help of flags whose tag has none
	Exits    string // its exit statuses in order; without a text in the meaning that they have for all
	Examples string // paragraphs, and commands that are indented by four spaces
}

// A row is one of a table in a Manual.
type row struct{ name, text string }

// rows returns those of a table.
func rows(table string) (all []row) {
	for line := range strings.Lines(table) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case line[0] != '\t':
			all = append(all, row{name: text})
		default:
			last := &all[len(all)-1]
			last.text = strings.TrimPrefix(last.text+" "+text, " ")
		}
	}
	return all
}

// texts returns the texts of a table by name.
func texts(table string) map[string]string {
	all := make(map[string]string)
	for _, r := range rows(table) {
		all[r.name] = r.text
	}
	return all
}

// usage returns the lines of m.Usage.
func (m *Manual) usage() (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(m.Usage)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// details returns m.Details in one line.
func (m *Manual) details() string { return strings.Join(strings.Fields(m.Details), " ") }

// describe gives flags their help: that of their tag, of m, or of sharedFlags. A row of m for no flag
// without help is a bug.
func (m *Manual) describe(flags []*kong.Value) {
	own, shared := texts(m.Flags), texts(sharedFlags)
	for _, v := range flags {
		if v.Help == "" {
			v.Help = strings.ReplaceAll(cmp.Or(own[v.Name], shared[v.Name]), "${default}", v.Default)
			delete(own, v.Name)
		}
	}
	for name := range own {
		panic("the help has a text for the flag " + name + ", which needs none")
	}
}

// An exit is an exit status of a command.
type exit struct{ status, meaning, ofAll string }

// exits returns the exit statuses of m.
func (m *Manual) exits() (all []exit) {
	general := texts(generalExits)
	for _, r := range rows(m.Exits) {
		e := exit{status: r.name, meaning: r.text, ofAll: general[r.name]}
		if e.meaning == "" {
			e.meaning = e.ofAll
		}
		all = append(all, e)
	}
	return all
}

// exitHelp returns the exit statuses of m for its help.
func (m *Manual) exitHelp() string {
	var out strings.Builder
	out.WriteString("\nExit statuses:\n")
	for _, e := range m.exits() {
		text := strings.TrimLeft(Wrap(e.meaning, 70, "         "), " ")
		fmt.Fprintf(&out, "  %-7s%s", e.status, text)
	}
	return out.String()
}

// exitObjects returns the exit statuses of m as JSON.
func (m *Manual) exitObjects() []Object {
	all := []Object{}
	for _, e := range m.exits() {
		o := Object{{"status", e.status}, {"meaning", e.meaning}}
		if _, err := strconv.Atoi(e.status); err == nil {
			o = append(o, Member{"ofAll", e.ofAll})
		}
		all = append(all, o)
	}
	return all
}

// exampleObjects returns the examples of m as JSON: what each shows, and its lines.
func (m *Manual) exampleObjects() []Object {
	const indent = "    "
	all := []Object{}
	var says []string
	code := ""
	flush := func() {
		if says != nil || code != "" {
			all = append(all, Object{{"text", strings.Join(says, " ")}, {"code", code}})
		}
		says, code = nil, ""
	}
	for line := range strings.Lines(strings.Trim(m.Examples, "\n") + "\n") {
		switch line := strings.TrimRight(line, "\n"); {
		case line == "" && code != "":
			code += "\n"
		case strings.HasPrefix(line, indent):
			code += strings.TrimPrefix(line, indent) + "\n"
		case line != "":
			if code != "" {
				flush()
			}
			says = append(says, line)
		}
	}
	flush()
	for i := range all {
		all[i][1][1] = strings.TrimRight(all[i][1][1].(string), "\n")
	}
	return all
}
