package cli

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A FlagSet is the flags of one command, in the order of its help.
type FlagSet struct {
	set       flag.FlagSet
	shown     []shownFlag
	arguments *[]string // nil: the command takes none
	usage     string    // of the arguments
}

type shownFlag struct{ name, short, placeholder, help string }

func (f *FlagSet) show(name, placeholder, help string) {
	f.shown = append(f.shown, shownFlag{name: name, placeholder: placeholder, help: help})
}

// String defines a flag that takes a word.
func (f *FlagSet) String(p *string, name, placeholder, help string) {
	f.show(name, placeholder, help)
	f.set.StringVar(p, name, *p, "")
}

// Strings defines a flag that may be repeated.
func (f *FlagSet) Strings(p *[]string, name, placeholder, help string) {
	f.show(name, placeholder, help+"; may be repeated")
	f.set.Func(name, "", func(s string) error {
		*p = append(*p, s)
		return nil
	})
}

// Bool defines a flag that takes nothing.
func (f *FlagSet) Bool(p *bool, name, help string) {
	f.show(name, "", help)
	f.set.BoolVar(p, name, false, "")
}

// PID defines a flag that takes the number of a process.
func (f *FlagSet) PID(p *int, name, help string) {
	f.show(name, "N", help)
	f.set.Func(name, "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("want the number of a process")
		}
		*p = int(n)
		return nil
	})
}

// Duration defines a flag that takes a time span of at least least: in the syntax of Go, like 1m30s, or bare seconds.
func (f *FlagSet) Duration(p *time.Duration, name, help string, least time.Duration) {
	f.show(name, "D", help)
	f.set.Func(name, "", func(s string) error {
		unit := ""
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			unit = "s"
		}
		d, err := time.ParseDuration(s + unit)
		if err != nil || d < least {
			return fmt.Errorf("want seconds, or a number with a unit like 500ms or 1m30s, of at least %v", least)
		}
		*p = d
		return nil
	})
}

// Short gives the flag that was defined last a short name.
func (f *FlagSet) Short(short string) {
	last := &f.shown[len(f.shown)-1]
	last.short = short
	f.set.Var(f.set.Lookup(last.name).Value, short, "")
}

// Arguments lets the command have arguments after its flags, described by usage.
func (f *FlagSet) Arguments(p *[]string, usage string) { f.arguments, f.usage = p, usage }

// parse parses args. It returns flag.ErrHelp if help is asked for.
func (f *FlagSet) parse(program string, args []string) error {
	f.set.Init(program, flag.ContinueOnError)
	f.set.SetOutput(io.Discard)
	f.set.Usage = func() {}
	if err := f.set.Parse(args); err != nil {
		return err
	}
	switch {
	case f.set.NArg() == 0:
	case f.arguments == nil:
		return fmt.Errorf("unexpected argument %q", f.set.Arg(0))
	default:
		*f.arguments = f.set.Args()
	}
	return nil
}

// help returns the help text.
func (f *FlagSet) help(program, summary, details string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage: %s [flags]%s\n\n%s\n\n%s\nFlags:\n", program, f.usage, summary, wrap(details, 78, ""))
	const column = 28
	for _, s := range append(f.shown, shownFlag{name: "help", short: "h", help: "print this"}) {
		names := "    "
		if s.short != "" {
			names = "-" + s.short + ", "
		}
		names += "--" + s.name
		if s.placeholder != "" {
			names += " " + s.placeholder
		}
		text := wrap(s.help, 78-column, strings.Repeat(" ", column))
		if len(names) < column-3 {
			text = strings.TrimLeft(text, " ")
			fmt.Fprintf(&out, "  %-*s%s", column-2, names, text)
		} else {
			fmt.Fprintf(&out, "  %s\n%s", names, text)
		}
	}
	return out.String()
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
