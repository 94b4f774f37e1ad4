package cli

import (
	"fmt"
	"strings"
)

// helpFlag is the flag that package flag knows by itself.
var helpFlag = commandFlag{name: "help", short: "h", help: "print this; with --json, as a model for programs"}

// help returns the help text.
func (f *FlagSet) help(program, summary, details string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage: %s [flags]%s\n\n%s\n\n%s\nFlags:\n", program, f.usage, summary, wrap(details, 78, ""))
	const column = 28
	for _, c := range append(f.flags, helpFlag) {
		names := "    "
		if c.short != "" {
			names = "-" + c.short + ", "
		}
		names += "--" + c.name
		if value := c.takes(); value != "" {
			names += " " + value
		}
		text := wrap(c.explanation(), 78-column, strings.Repeat(" ", column))
		if len(names) < column-3 {
			text = strings.TrimLeft(text, " ")
			fmt.Fprintf(&out, "  %-*s%s", column-2, names, text)
		} else {
			fmt.Fprintf(&out, "  %s\n%s", names, text)
		}
	}
	out.WriteString(exitHelp(program))
	return out.String()
}

// takes returns what stands for the value of c, "" if it takes none.
func (c *commandFlag) takes() string {
	if c.placeholder == "" && c.words != nil {
		return strings.Join(c.words(), "|")
	}
	return c.placeholder
}

// explanation is the help of c, with what follows from its kind.
func (c *commandFlag) explanation() string {
	text := c.help
	if c.placeholder != "" && c.words != nil {
		text += "; " + c.placeholder + " is " + alternatives(c.words())
	}
	if c.repeated() {
		text += "; may be repeated"
	}
	return text
}

func (c *commandFlag) repeated() bool {
	_, many := c.value.(*[]string)
	return many
}

// model returns what help tells, for programs: those that make the manual pages and completions.
func (f *FlagSet) model(program, summary, details string) Object {
	flags := []Object{}
	for _, c := range append(f.flags, helpFlag) {
		o := Object{{"name", c.name}}
		if c.short != "" {
			o = append(o, Member{"short", c.short})
		}
		if value := c.takes(); value != "" {
			o = append(o, Member{"value", value})
		}
		if c.words != nil {
			o = append(o, Member{"values", c.words()})
		}
		if c.repeated() {
			o = append(o, Member{"repeated", true})
		}
		if c.mayBeEmpty {
			o = append(o, Member{"mayBeEmpty", true})
		}
		flags = append(flags, append(o, Member{"help", c.help}))
	}
	o := Object{{"program", program}, {"summary", summary}, {"details", details}}
	if f.usage != "" {
		o = append(o, Member{"arguments", strings.TrimSpace(f.usage)})
	}
	return append(o, Member{"flags", flags}, Member{"exitStatuses", exitModels(program)})
}

// wrap breaks text into lines of at most width characters, each after indent.
func wrap(text string, width int, indent string) string {
	var out strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case length == 0:
			out.WriteString(indent)
		case length+1+len(word) > width:
			out.WriteString("\n" + indent)
			length = 0
		default:
			out.WriteByte(' ')
			length++
		}
		out.WriteString(word)
		length += len(word)
	}
	out.WriteByte('\n')
	return out.String()
}
