package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A FlagSet is the flags of one command, in the order of its help. It parses with package flag, to which it gives only the
// flags that occur: defining one there costs more than looking its name up here, and a command is started often.
type FlagSet struct {
	flags     []commandFlag
	arguments *[]string // nil: the command takes none
	usage     string    // of the arguments
}

type commandFlag struct {
	name, short, placeholder, help string
	value                          any           // *string, **string, *[]string, *bool, *int or *time.Duration
	least                          time.Duration // of a duration
	leastInt                       int64         // of an integer
	want                           string        // what an integer is
	check                          func(s string) error
}

func (f *FlagSet) add(c commandFlag) {
	if f.flags == nil {
		f.flags = make([]commandFlag, 0, 32)
	}
	f.flags = append(f.flags, c)
}

// String defines a flag that takes a word, which is not empty: --check "$UNSET" is a mistake.
func (f *FlagSet) String(p *string, name, placeholder, help string) {
	f.add(commandFlag{name: name, placeholder: placeholder, help: help, value: p, check: notEmpty})
}

// Text defines a flag that takes any text that a file can hold.
func (f *FlagSet) Text(p *string, name, help string) {
	f.add(commandFlag{name: name, placeholder: "TEXT", help: help, value: p, check: CheckText})
}

// OptionalText is Text where none is another thing than an empty one: p stays nil unless the flag is given.
func (f *FlagSet) OptionalText(p **string, name, help string) {
	f.add(commandFlag{name: name, placeholder: "TEXT", help: help, value: p, check: CheckText})
}

// Strings defines a flag that takes such a text and may be repeated.
func (f *FlagSet) Strings(p *[]string, name, placeholder, help string) {
	f.add(commandFlag{name: name, placeholder: placeholder, help: help, value: p, check: CheckText})
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	return nil
}

// CheckText returns why s cannot be kept in a file, or nil.
func CheckText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it is not UTF-8, and so cannot be kept in a JSON file")
	}
	return nil
}

// Bool defines a flag that takes nothing.
func (f *FlagSet) Bool(p *bool, name, help string) {
	f.add(commandFlag{name: name, help: help, value: p})
}

// PID defines a flag that takes the number of a process.
func (f *FlagSet) PID(p *int, name, help string) {
	f.add(commandFlag{name: name, placeholder: "N", help: help, value: p, leastInt: 1, want: "the number of a process"})
}

// Count defines a flag that takes a number of at least 0.
func (f *FlagSet) Count(p *int, name, help string) {
	f.add(commandFlag{name: name, placeholder: "N", help: help, value: p, want: "a number of at least 0"})
}

// Duration defines a flag that takes a time span of at least least: in the syntax of Go, like 1m30s, or bare seconds.
func (f *FlagSet) Duration(p *time.Duration, name, help string, least time.Duration) {
	f.add(commandFlag{name: name, placeholder: "D", help: help, value: p, least: least})
}

// define gives c to set under name.
func (c commandFlag) define(set *flag.FlagSet, name string) {
	switch p := c.value.(type) {
	case *string:
		set.Func(name, "", func(s string) error {
			*p = s
			return c.check(s)
		})
	case **string:
		set.Func(name, "", func(s string) error {
			*p = &s
			return c.check(s)
		})
	case *bool:
		set.BoolVar(p, name, *p, "")
	case *[]string:
		set.Func(name, "", func(s string) error {
			*p = append(*p, s)
			return c.check(s)
		})
	case *int:
		set.Func(name, "", func(s string) error {
			n, err := strconv.ParseInt(s, 10, 32)
			if err != nil || n < c.leastInt {
				return errors.New("want " + c.want)
			}
			*p = int(n)
			return nil
		})
	case *time.Duration:
		set.Func(name, "", func(s string) error {
			d, err := ParseDuration(s, c.least)
			*p = d
			return err
		})
	}
}

// ParseDuration returns the time span s, which is to be at least least: in the syntax of Go, or bare seconds.
func ParseDuration(s string, least time.Duration) (time.Duration, error) {
	unit := ""
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		unit = "s"
	}
	d, err := time.ParseDuration(s + unit)
	if err != nil || d < least {
		return 0, fmt.Errorf("want seconds, or a number with a unit like 500ms or 1m30s, of at least %v", least)
	}
	return d, nil
}

// Short gives the flag that was defined last a short name.
func (f *FlagSet) Short(short string) { f.flags[len(f.flags)-1].short = short }

// Arguments lets the command have arguments after its flags, described by usage.
func (f *FlagSet) Arguments(p *[]string, usage string) { f.arguments, f.usage = p, usage }

// parse parses args. It returns flag.ErrHelp if help is asked for.
func (f *FlagSet) parse(program string, args []string) error {
	var set flag.FlagSet
	set.Init(program, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		for _, c := range f.flags {
			if name != "" && (name == c.name || name == c.short) && arg[0] == '-' && set.Lookup(name) == nil {
				c.define(&set, name)
			}
		}
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	switch {
	case set.NArg() == 0:
	case f.arguments == nil:
		return fmt.Errorf("unexpected argument %q", set.Arg(0))
	default:
		*f.arguments = set.Args()
	}
	return nil
}

// help returns the help text.
func (f *FlagSet) help(program, summary, details string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage: %s [flags]%s\n\n%s\n\n%s\nFlags:\n", program, f.usage, summary, wrap(details, 78, ""))
	const column = 28
	for _, s := range append(f.flags, commandFlag{name: "help", short: "h", help: "print this"}) {
		names := "    "
		if s.short != "" {
			names = "-" + s.short + ", "
		}
		names += "--" + s.name
		if s.placeholder != "" {
			names += " " + s.placeholder
		}
		if _, repeated := s.value.(*[]string); repeated {
			s.help += "; may be repeated"
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
