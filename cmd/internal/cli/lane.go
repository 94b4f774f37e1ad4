package cli

import (
	"os"
	"reflect"
	"strings"
)

// A field is one of a command's struct.
type field struct {
	name     string // of the flag
	tag      reflect.StructTag
	value    reflect.Value
	given    bool
	argument bool // it takes the arguments, and is no flag
}

// FastLane fills c, which is zero, from plain arguments: --name value, --name=value, switches
// without a value, and --. It does what kong does, by the same tags, types and hooks, without
// kong's model, which takes longer to make than an operation to edit. It gives up at whatever it
// does not understand or finds wrong, and returns false: then Kong begins anew, and its word counts.
func FastLane(c Command, args []string) bool {
	fields := fieldsOf(reflect.ValueOf(c).Elem(), make([]field, 0, 48))
	var given []string
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		arg := args[0]
		if args = args[1:]; arg == "--" {
			if len(args) == 0 {
				return false
			}
			break
		}

		name, word, hasWord := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		f := named(fields, name)
		if arg[1] != '-' || f == nil || name == "help" || name == "version" {
			return false
		}
		f.given, given = true, append(given, name)
		if f.value.Kind() == reflect.Bool {
			if f.value.SetBool(true); hasWord {
				return false
			}
			continue
		}

		if !hasWord {
			if len(args) == 0 {
				return false
			}
			word, args = args[0], args[1:]
		}
		if set(f.value, word, f.tag.Get("enum")) != nil {
			return false
		}
	}

	for _, f := range fields {
		if f.argument && len(args) > 0 {
			if setArguments(f.value, args) != nil {
				return false
			}
			args = nil
		}
		if !f.given && !f.argument && !f.complete() {
			return false
		}
	}
	c.CommonFlags().given = given
	return len(args) == 0 && validate(reflect.ValueOf(c).Elem()) == nil
}

// complete fills a field that was not given, and reports whether it may go without.
func (f *field) complete() bool {
	word := os.Getenv(f.tag.Get("env"))
	if word == "" {
		word = f.tag.Get("default")
	}
	if word != "" {
		return set(f.value, word, f.tag.Get("enum")) == nil
	}
	_, required := f.tag.Lookup("required")
	return !required
}

// fieldsOf adds the fields of a struct, also of those embedded in it, to all.
func fieldsOf(structure reflect.Value, all []field) []field {
	for i := range structure.NumField() {
		f := structure.Type().Field(i)
		if _, embedded := f.Tag.Lookup("embed"); embedded {
			all = fieldsOf(structure.Field(i), all)
			continue
		}
		_, argument := f.Tag.Lookup("arg")
		name := f.Tag.Get("name")
		if name == "" {
			name = flagName(f.Name)
		}
		if f.IsExported() {
			all = append(all, field{name: name, tag: f.Tag, value: structure.Field(i), argument: argument})
		}
	}
	return all
}

// named returns the flag of that name, or nil.
func named(fields []field, name string) *field {
	for i := range fields {
		if f := &fields[i]; f.name == name && !f.argument {
			return f
		}
	}
	return nil
}

// validate calls the hooks of a struct and of those embedded in it.
func validate(structure reflect.Value) error {
	if hook, ok := structure.Addr().Interface().(interface{ Validate() error }); ok {
		if err := hook.Validate(); err != nil {
			return err
		}
	}
	for i := range structure.NumField() {
		f := structure.Type().Field(i)
		if _, embedded := f.Tag.Lookup("embed"); embedded && f.IsExported() {
			if err := validate(structure.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
