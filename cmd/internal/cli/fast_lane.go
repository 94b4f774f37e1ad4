package cli

import (
	"cmp"
	"os"
	"reflect"
	"strings"
)

// A field is a field of a command's struct: a flag, or the arguments.
type field struct {
	name     string
	tag      reflect.StructTag // up to its help, which is last and long
	value    reflect.Value
	argument bool
	given    bool
	text     string // the last value on the command line
}

// FastLane fills c, which must be zero, from plain arguments: --name value, --name=value, switches
// without a value, and --. It does the same as kong, with the same tags, types and hooks, but
// without kong's model, which takes longer to build than an edit of an operation. If it does not
// understand something, or finds an error, it returns false. Then Kong parses the arguments again,
// and decides.
func FastLane(c Command, args []string) bool {
	all := fieldsOf(reflect.ValueOf(c).Elem(), make(fields, 0, 48))
	common := c.CommonFlags()
	common.given = nil
	dashed := false // -- was given

	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		arg := args[0]
		if args = args[1:]; arg == "--" && len(args) > 0 {
			dashed = true
			break
		}

		name, word, hasWord := strings.Cut(arg, "=")
		f := all.flag(name)
		if f == nil || f.name == "help" {
			return false
		}

		f.given, common.given = true, append(common.given, f.name)
		if f.value.Kind() == reflect.Bool {
			if f.value.SetBool(true); hasWord {
				return false
			}
			continue
		}

		if !hasWord && (len(args) == 0 || args[0] == "--") {
			return false
		}
		if !hasWord {
			word, args = args[0], args[1:]
		}
		if f.text = word; set(f.value, word, f.tag.Get("enum")) != nil {
			return false
		}
	}

	for i := range all {
		f := &all[i]
		if f.argument && len(args) > 0 {
			if has(f.tag, "dashed") && !dashed || setArguments(f.value, args) != nil {
				return false
			}
			args = nil
		}

		if !f.given && !f.argument && !all.complete(f) {
			return false
		}
	}

	hook, ok := c.(interface{ Validate() error })
	return len(args) == 0 && (!ok || hook.Validate() == nil)
}

// complete fills a flag that was not given. It returns false if the command needs the flag.
func (all fields) complete(f *field) bool {
	word := f.tag.Get("default")
	if v := all.variable(f); v != "" {
		word = os.Getenv(v)
	}

	if word != "" {
		return set(f.value, word, f.tag.Get("enum")) == nil
	}
	return !has(f.tag, "required")
}

// flag returns the flag named by arg, or nil.
func (all fields) flag(arg string) *field {
	name, long := strings.CutPrefix(arg, "--")
	for i := range all {
		f := &all[i]
		if long && name != "" && !f.argument && (f.name == name || f.tag.Get("aliases") == name) {
			return f
		}
	}
	return nil
}

// fieldsOf appends the fields of a struct and of its embedded structs to all.
func fieldsOf(structure reflect.Value, all fields) fields {
	for i := range structure.NumField() {
		f, value := structure.Type().Field(i), structure.Field(i)
		plain, _, _ := strings.Cut(string(f.Tag), `help:"`)
		tag := reflect.StructTag(plain)

		switch {
		case value.Kind() == reflect.Struct && has(tag, "embed"):
			all = fieldsOf(value, all)
		case f.IsExported():
			name := cmp.Or(tag.Get("name"), flagName(f.Name))
			all = append(all, field{name: name, tag: tag, value: value,
				argument: has(tag, "arg")})
		}
	}

	return all
}

func has(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}
