package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// A manual is what the help of a command says: its summary, and a text of sections. The first line of
// a section is its name in capitals:
//
//	USAGE          how the command is called, one line each, without its name
//	DETAILS        a paragraph
//	FLAGS          the help of flags whose tag has none
//	EXIT STATUSES  without a text in the meaning that they have for all commands
//	EXAMPLES       paragraphs, and below each of them commands that are indented by four spaces
//
// Flags and exit statuses are tables: a line with a name, and below it, after a tab, the lines of its
// text.
type manual struct{ summary, text string }

// generalExits are the exit statuses that commands share, with the meaning that they have where the
// command says nothing else. The tables in spec/ are compared with the help of the commands.
//
//go:embed exits.txt
var generalExits string

// sharedFlags is the help of flags that several commands have.
//
//go:embed shared_flags.txt
var sharedFlags string

// section returns the text of a section, or "" if there is none.
func (m *manual) section(name string) string {
	_, text, _ := strings.Cut("\n"+m.text, "\n"+name+"\n")
	for _, next := range []string{"USAGE", "DETAILS", "FLAGS", "EXIT STATUSES", "EXAMPLES"} {
		text, _, _ = strings.Cut(text, "\n\n"+next+"\n")
	}
	return text
}

// A row is one of a table.
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

// usage returns the lines that show how the command is called.
func (m *manual) usage() (lines []string) {
	for line := range strings.Lines(m.section("USAGE")) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// details returns the paragraph in one line.
func (m *manual) details() string { return strings.Join(strings.Fields(m.section("DETAILS")), " ") }

// describe gives flags their help: that of their tag, of m, or of sharedFlags. A row of m for no flag
// without help is a bug.
func (m *manual) describe(flags []*kong.Value) {
	own, shared := texts(m.section("FLAGS")), texts(sharedFlags)
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
func (m *manual) exits() (all []exit) {
	general := texts(generalExits)
	for _, r := range rows(m.section("EXIT STATUSES")) {
		e := exit{status: r.name, meaning: r.text, ofAll: general[r.name]}
		if e.meaning == "" {
			e.meaning = e.ofAll
		}
		all = append(all, e)
	}
	return all
}

// exitHelp returns the exit statuses of m for its help.
func (m *manual) exitHelp() string {
	var out strings.Builder
	out.WriteString("\nExit statuses:\n")
	for _, e := range m.exits() {
		text := strings.TrimLeft(Wrap(e.meaning, 70, "         "), " ")
		fmt.Fprintf(&out, "  %-7s%s", e.status, text)
	}
	return out.String()
}

// exitObjects returns the exit statuses of m as JSON.
func (m *manual) exitObjects() []Object {
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

// An example is what it shows, and its lines.
type example struct{ text, code string }

// examples returns those of m.
func (m *manual) examples() (all []example) {
	for line := range strings.Lines(m.section("EXAMPLES")) {
		line = strings.TrimRight(line, "\n")
		code, indented := strings.CutPrefix(line, "    ")
		begins := line != "" && !indented && len(all) > 0 && all[len(all)-1].code != ""
		if begins || len(all) == 0 {
			all = append(all, example{})
		}

		switch e := &all[len(all)-1]; {
		case indented, line == "" && e.code != "":
			e.code += code + "\n"
		case line != "":
			e.text = strings.TrimPrefix(e.text+" "+line, " ")
		}
	}
	return all
}

// exampleObjects returns the examples of m as JSON.
func (m *manual) exampleObjects() []Object {
	all := []Object{}
	for _, e := range m.examples() {
		all = append(all, Object{{"text", e.text}, {"code", strings.TrimRight(e.code, "\n")}})
	}
	return all
}
