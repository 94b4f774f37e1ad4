package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/nearest"
)

// A FlagSet is the flags of one command, in the order of its help. It parses with package flag, to which it gives only the
// flags that occur: defining one there costs more than looking its name up here, and a command is started often.
type FlagSet struct {
	flags     []commandFlag
	arguments *[]string // nil: the command takes none
	usage     string    // of the arguments
	argument  string    // what an argument that may not be empty is called
	every     bool      // none of the arguments may be empty, else the first alone
}

type commandFlag struct {
	name, short, placeholder, help string
	alias                          string          // another name, which help does not show
	value                          any             // *string, **string, *[]string, *bool, *int, *time.Duration, or a function that takes it
	least                          time.Duration   // of a duration
	leastInt                       int64           // of an integer
	want                           string          // what an integer is
	words                          func() []string // of a flag that takes one of them
	check                          func(s string) error
	mayBeEmpty                     bool // an empty text says something, or says nothing on purpose
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

// Word defines a flag of f that takes one of words, which are its placeholder where that is "".
func Word[T ~string](f *FlagSet, p *T, name, placeholder, help string, words ...T) {
	all := func() []string {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = string(w)
		}
		return texts
	}
	f.add(commandFlag{name: name, placeholder: placeholder, help: help, words: all, value: func(s string) error {
		if *p = T(s); !slices.Contains(words, *p) {
			return cmp.Or(notEmpty(s), errors.New("want "+alternatives(all())))
		}
		return nil
	}})
}

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Text defines a flag that takes any text that a file can hold. It is for people to read, so it may be empty.
func (f *FlagSet) Text(p *string, name, help string) {
	f.add(commandFlag{name: name, placeholder: "TEXT", help: help, value: p, check: CheckText, mayBeEmpty: true})
}

// OptionalText is Text where none is another thing than an empty one: p stays nil unless the flag is given.
func (f *FlagSet) OptionalText(p **string, name, help string) {
	f.add(commandFlag{name: name, placeholder: "TEXT", help: help, value: p, check: CheckText, mayBeEmpty: true})
}

// Strings defines a flag that takes a word that a file can hold, which is not empty, and may be repeated.
func (f *FlagSet) Strings(p *[]string, name, placeholder, help string) {
	f.add(commandFlag{name: name, placeholder: placeholder, help: help, value: p, check: checkWord})
}

func checkWord(s string) error { return cmp.Or(notEmpty(s), CheckText(s)) }

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

// Size defines a flag that takes a number of bytes, with K, M or G behind it for 1024 of them and so on.
func (f *FlagSet) Size(p *int64, name, help string) {
	f.add(commandFlag{name: name, placeholder: "SIZE", help: help, value: func(s string) (err error) {
		*p, err = parseSize(s)
		return err
	}})
}

// parseSize returns the number of bytes that s stands for.
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	if i := len(s) - 1; i >= 0 {
		if power := strings.IndexByte("KMG", s[i]&^0x20); power >= 0 {
			number, unit = s[:i], 1<<(10*(power+1))
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, errors.New("want a number of bytes, or of 1024 bytes and so on, like 512K, 10M or 1G")
	}
	return int64(n) * unit, nil
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
	case func(string) error:
		set.Func(name, "", p)
	case *time.Duration:
		set.Func(name, "", func(s string) error {
			d, err := ParseDuration(s, c.least)
			*p = d
			return err
		})
	}
}

// ParseDuration returns the time span s, which must be at least least: in the syntax of Go, before which weeks and days may
// stand, like 1d12h, or bare seconds.
func ParseDuration(s string, least time.Duration) (time.Duration, error) {
	unit := ""
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		unit = "s"
	}
	d, err := parseSpan(s + unit)
	if err != nil || d < least {
		return 0, fmt.Errorf("want seconds, or a number with a unit like 500ms, 1m30s or 1d, of at least %v", least)
	}
	return d, nil
}

// parseSpan returns the time span s: weeks and days, which package time does not know, and what it knows.
func parseSpan(s string) (time.Duration, error) {
	weeks, rest, err := cutDays(s, "w", 7)
	if err != nil {
		return 0, err
	}
	days, rest, err := cutDays(rest, "d", 1)
	if err != nil {
		return 0, err
	}
	if rest == s {
		return time.ParseDuration(s)
	}

	var others time.Duration
	if rest != "" {
		others, err = time.ParseDuration(rest)
	}
	if err != nil || strings.ContainsAny(rest, "+-") || days > math.MaxInt64-weeks || others > math.MaxInt64-weeks-days {
		return 0, errSpan
	}
	return weeks + days + others, nil
}

var errSpan = errors.New("not a time span")

// cutDays cuts the number that stands before unit, of so many days, off s. Without unit it returns 0 and s.
func cutDays(s, unit string, of int64) (d time.Duration, rest string, err error) {
	number, rest, found := strings.Cut(s, unit)
	if !found {
		return 0, s, nil
	}
	hours, err := time.ParseDuration(number + "h")
	switch factor := time.Duration(24 * of); {
	case err != nil || strings.Trim(number, "0123456789.") != "" || hours > math.MaxInt64/factor:
		return 0, "", errSpan
	default:
		return hours * factor, rest, nil
	}
}

// Short gives the flag that was defined last a short name.
func (f *FlagSet) Short(short string) { f.flags[len(f.flags)-1].short = short }

// Alias gives the flag that was defined last another name.
func (f *FlagSet) Alias(alias string) { f.flags[len(f.flags)-1].alias = alias }

// CommandLine lets the command have arguments after its flags, described by usage: the program to run, which is called name
// there, and the arguments of that program. They may be anything, and the program may not be empty.
func (f *FlagSet) CommandLine(p *[]string, name, usage string) {
	f.arguments, f.argument, f.usage = p, name, usage
}

// Files lets the command have arguments after its flags, described by usage, none of which may be empty.
func (f *FlagSet) Files(p *[]string, usage string) {
	f.arguments, f.argument, f.usage, f.every = p, "FILE", usage, true
}

// parse parses args. It returns flag.ErrHelp if help is asked for.
func (f *FlagSet) parse(program string, args []string) error {
	var set flag.FlagSet
	set.Init(program, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	args, err := f.spread(args)
	if err != nil {
		return err
	}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		for _, c := range f.flags {
			if name != "" && (name == c.name || name == c.short || name == c.alias) && arg[0] == '-' && set.Lookup(name) == nil {
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
		return f.checkArguments()
	}
	return nil
}

// spread returns args with short flags that were put together, like -nv, one by one. It refuses the first flag that there is
// not, and names the one that may have been meant.
func (f *FlagSet) spread(args []string) ([]string, error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' || arg == "--" {
			break // here the arguments begin
		}
		name, _, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		switch c := f.flag(name); {
		case c == &helpFlag:
			return args, nil // whatever follows
		case c != nil && c.takes() != "" && !hasValue:
			i++
		case c != nil || name == "" || name[0] == '-':
			// It is fine, or package flag says what is wrong with it.
		case arg[1] != '-' && f.wrong(name) == "":
			args = slices.Replace(slices.Clone(args), i, i+1, strings.Split(arg[1:], "")...)
			for j := range name {
				args[i+j] = "-" + args[i+j]
			}
			i += len(name) - 1
		default:
			return nil, f.unknown(arg, name)
		}
	}
	return args, nil
}

// flag returns the flag of that name, also a short one, or nil.
func (f *FlagSet) flag(name string) *commandFlag {
	for i, c := range f.flags {
		if name != "" && (name == c.name || name == c.short || name == c.alias) {
			return &f.flags[i]
		}
	}
	if name == helpFlag.name || name == helpFlag.short {
		return &helpFlag
	}
	return nil
}

// wrong returns what keeps the short flags name from being put together, "" if each of them takes nothing.
func (f *FlagSet) wrong(name string) string {
	for _, letter := range name {
		switch c := f.flag(string(letter)); {
		case c == nil || c.short != string(letter):
			return fmt.Sprintf("there is no -%c", letter)
		case c.takes() != "":
			return fmt.Sprintf("-%c takes a value, so it stands alone", letter)
		}
	}
	return ""
}

// unknown says that there is no flag name, as which arg was taken.
func (f *FlagSet) unknown(arg, name string) error {
	names := []string{helpFlag.name}
	for _, c := range f.flags {
		names = append(names, c.name)
	}
	if near := nearest.To(name, names); near != "" {
		return fmt.Errorf("no such flag: %q: did you mean --%s?", arg, near)
	}
	first, size := utf8.DecodeRuneInString(name)
	if arg[1] != '-' && len(name) > size && f.wrong(string(first)) == "" {
		return fmt.Errorf("no such flag: %q: %s", arg, f.wrong(name))
	}
	return fmt.Errorf("no such flag: %q", arg)
}

// checkArguments refuses an empty argument where one means a variable that is not set.
func (f *FlagSet) checkArguments() error {
	for i, arg := range *f.arguments {
		if arg == "" && (i == 0 || f.every) {
			return fmt.Errorf("%s: it is empty", f.argument)
		}
	}
	return nil
}
