package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A parser takes what the fast lane does not: it is kong with its model of the flags of a command, of
// which the help is made as well.
type parser struct {
	*kong.Kong
	*manual
	leading string // what the first arguments may be, such as QUEUE
}

// newParser returns the parser of c, of which m tells.
func (env *Env) newParser(c Command, m *manual) *parser {
	noteGiven := func(ctx *kong.Context) error {
		common, all := c.CommonFlags(), fieldsOf(reflect.ValueOf(c).Elem(), nil)
		common.given = nil
		for _, p := range ctx.Path {
			if p.Flag != nil {
				common.given = append(common.given, p.Flag.Name)
				f := all.named(p.Flag.Name)
				f.given, f.text = true, fmt.Sprint(ctx.FlagValue(p.Flag))
			}
		}

		for _, f := range ctx.Model.Flags {
			f.Tag.Envs = nil // kong would read these also where they do not count
			if v := all.variable(all.named(f.Name)); v != "" {
				f.Tag.Envs = []string{v}
			}
		}
		return nil
	}

	k := kong.Must(c, kong.Name(env.Program), kong.Description(m.summary), kong.FlagNamer(flagName),
		kong.NoDefaultHelp(), kong.Writers(env.Stdout, env.Stderr), kong.ValueFormatter(explain),
		kong.WithBeforeReset(noteGiven))

	k.Model.Detail = m.details()
	slices.SortStableFunc(k.Model.Flags, func(a, b *kong.Flag) int { // its own flags first, as in the help
		return cmp.Compare(groupKey(a), groupKey(b))
	})

	if r, is := c.(Refuser); is {
		for _, f := range k.Model.Flags {
			f.Hidden = slices.Contains(r.Refuses(), f.Name)
		}
	}

	m.describe(k.Model.Node.Values())
	for _, v := range k.Model.Node.Values() {
		v.Tag.Sep = -1 // a comma separates nothing
		if !v.IsBool() {
			v.Mapper = mapper{}
		}
		if f := v.Flag; f != nil && f.PlaceHolder == "" {
			f.PlaceHolder = strings.Join(words(v.Enum), "|")
		}

		v.HasDefault = v.Default != "" // kong wants one beside an enum
	}

	return &parser{k, m, leading(c, k.Model.Flags)}
}

// Parse is that of kong. It says where an argument has to be that is in the wrong place.
func (p *parser) Parse(args []string) (*kong.Context, error) {
	ctx, err := p.Kong.Parse(args)
	if word, is := errors.AsType[notDashed](err); is {
		return ctx, word
	}
	if err != nil && p.leading != "" && strings.HasPrefix(err.Error(), "unexpected argument ") {
		err = fmt.Errorf("%w: %s comes before the flags", err, p.leading)
	}
	return ctx, err
}

// leading returns what words before the flags stand for, or "" if there must be none.
func leading(c Command, flags []*kong.Flag) string {
	var all []string
	for name := range strings.FieldsSeq(c.Leading()) {
		word := strings.ToUpper(name)
		for _, f := range flags {
			if f.Name == name && f.PlaceHolder != "TEXT" {
				word = f.PlaceHolder
			}
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// Kong fills c from args by kong alone.
func Kong(c Command, program string, args []string) error {
	_, err := (&Env{Program: program}).newParser(c, &manual{}).Parse(args)
	return err
}

func groupKey(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Key
}

// A mapper makes kong take words unchanged, and store them in their fields as the fast lane does.
type mapper struct{}

// A notDashed is a word that is neither a flag nor its value, where the tag dashed has the command
// begin behind --: otherwise a mistaken word would be run.
type notDashed string

func (word notDashed) Error() string {
	return fmt.Sprintf("%q: the command comes behind --, and other words before the flags", string(word))
}

// Decode takes the value of a flag, or all arguments.
func (mapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Value.Flag != nil {
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return errors.New("it takes a value")
		}
		if token.Value == "--" && token.Type != kong.FlagValueToken {
			return errors.New(`it takes a value, and "--" is none: is a variable empty?`)
		}
		return set(target, fmt.Sprint(token.Value), ctx.Value.Enum)
	}

	var arguments []string
	for _, token := range ctx.Scan.PopWhile(func(t kong.Token) bool { return !t.IsEOL() }) {
		arguments = append(arguments, fmt.Sprint(token.Value))
	}

	if arguments[0] == "--" { // kong leaves it there
		arguments = arguments[1:]
	} else if ctx.Value.Tag.Has("dashed") {
		return notDashed(arguments[0])
	}

	return setArguments(target, arguments)
}

// flagName returns the name of the flag for a field, such as status-fd for StatusFD.
func flagName(field string) string {
	name := make([]byte, 0, len(field)+4)
	for i := range len(field) {
		letter := field[i]
		if i > 0 && isUpper(letter) && !isUpper(field[i-1]) {
			name = append(name, '-')
		}
		if isUpper(letter) {
			letter += 'a' - 'A'
		}
		name = append(name, letter)
	}

	return string(name)
}

func isUpper(letter byte) bool { return 'A' <= letter && letter <= 'Z' }

// asked reports whether the switch name was given in args, also together with a mistake err; but
// not if it was only the first letter of a text, such as -have, that is no flags.
func (p *parser) asked(name string, args []string, err error) bool {
	return slices.ContainsFunc(p.Model.Flags, func(f *kong.Flag) bool {
		return f.Name == name && f.Set && (err == nil || slices.Contains(args, "--"+name) ||
			f.Short != 0 && slices.Contains(args, "-"+string(f.Short)))
	})
}

// valued reports whether the switch name was given with a value, such as --help=false.
func (p *parser) valued(name string, args []string) bool {
	return p.asked(name, nil, nil) && slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--"+name+"=")
	})
}

// print prints the help text.
func (p *parser) print() {
	for i, line := range p.usage() {
		label := "Usage: "
		if i > 0 {
			label = "       "
		}
		fmt.Fprintf(p.Stdout, "%s%s %s\n", label, p.Model.Name, line)
	}
	ctx, _ := kong.Trace(p.Kong, nil)
	kong.DefaultHelpPrinter(kong.HelpOptions{NoAppSummary: true, WrapUpperBound: 80,
		ValueFormatter: explain}, ctx)
	fmt.Fprint(p.Stdout, p.exitHelp())
}

// arguments returns the synopsis of the command's arguments, or "" if it takes none.
func (p *parser) arguments() string {
	for _, v := range p.Model.Positional {
		return v.Tag.PlaceHolder
	}
	return ""
}

// described returns the help of a flag, with its environment variable.
func described(v *kong.Value) string {
	if v.Flag != nil && len(v.Flag.Envs) > 0 {
		return v.Help + " ($" + v.Flag.Envs[0] + ")"
	}
	return v.Help
}

// explain returns the help of a flag, completed by facts about its type.
func explain(v *kong.Value) string {
	text := described(v)
	if all := words(v.Enum); v.Flag != nil && v.Enum != "" &&
		v.Flag.PlaceHolder != strings.Join(all, "|") {
		text += "; " + v.Flag.PlaceHolder + " is " + alternatives(all)
	}
	if v.Flag != nil && v.IsSlice() {
		text += "; may be repeated"
	}
	return text
}

// object returns the documentation as JSON, for the programs that make man pages and completions.
func (p *parser) object() Object {
	flags := []Object{}
	for _, f := range p.Model.Flags {
		if f.Hidden {
			continue
		}
		o := Object{{"name", f.Name}}
		if f.Short != 0 {
			o = append(o, Member{"short", string(f.Short)})
		}
		if !f.IsBool() {
			o = append(o, Member{"value", f.FormatPlaceHolder()})
		}
		if f.Enum != "" {
			o = append(o, Member{"values", words(f.Enum)})
		}
		if f.IsSlice() {
			o = append(o, Member{"repeated", true})
		}

		if f.Group != nil {
			o = append(o, Member{"group", strings.TrimSuffix(f.Group.Title, ":")})
		}
		flags = append(flags, append(o, Member{"help", described(f.Value)}))
	}

	o := Object{{"program", p.Model.Name}, {"summary", p.summary},
		{"usage", p.usage()}, {"details", p.details()}}
	if arguments := p.arguments(); arguments != "" {
		o = append(o, Member{"arguments", arguments})
	}

	return append(o, Member{"flags", flags}, Member{"exitStatuses", p.exitObjects()},
		Member{"examples", p.exampleObjects()})
}
