package cli

import (
	"os"
	"reflect"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/variables"
)

// fields decides which variables of the environment count (spec/reference.md, Environment): for
// the fast lane, and for kong. These tags of a flag take part in it:
//
//	env     variables whose value is the default, the first one that is set
//	when    flags, one of which must be given
//	unless  flags, none of which may be given
//	actor   the flag says who acts, not what the command is about
type fields []field

// variable returns the variable whose value f has, or "". If f is given, it has none.
func (all fields) variable(f *field) string {
	list := f.tag.Get("env")
	if f.given || list == "" {
		return ""
	}
	for v := range strings.SplitSeq(list, ",") {
		if os.Getenv(v) != "" {
			if all.counts(f) {
				return v
			}
			return ""
		}
	}
	return ""
}

// counts reports whether the environment has a say in f.
func (all fields) counts(f *field) bool {
	when, unless := f.tag.Get("when"), f.tag.Get("unless")
	if when != "" && !all.given(when) || unless != "" && all.given(unless) {
		return false
	}
	return !all.aboutOther(f) && all.within(f.name)
}

// given reports whether one of flags, separated by commas, is on the command line.
func (all fields) given(flags string) bool {
	for flag := range strings.SplitSeq(flags, ",") {
		if f := all.named(flag); f != nil && f.given {
			return true
		}
	}
	return false
}

// within reports whether the command works on the object to which the environment's object of flag
// belongs: on $DPL_OP, for call.
func (all fields) within(flag string) bool {
	switch owner := variables.Owner(flag); {
	case flag == "participant": // a name for whoever makes calls, in any operation
		return true
	case flag == "supervisor" || owner == "ledger": // one supervisor works for many operations
		return all.ownLedger()
	case owner == "":
		return true
	default:
		return all.value(owner) != "" && all.value(owner) == os.Getenv(variables.Of(owner)) &&
			all.within(owner)
	}
}

// ownLedger reports whether the command works on $DPL_LEDGER.
func (all fields) ownLedger() bool {
	f := all.named("ledger")
	return !f.given || variables.SameLedger(f.text, os.Getenv(variables.Ledger))
}

// value returns the value of flag: that on the command line, or else in the environment.
func (all fields) value(flag string) string {
	f := all.named(flag)
	if f == nil {
		return ""
	}
	if f.given {
		return f.text
	}
	if v := all.variable(f); v != "" {
		return os.Getenv(v)
	}
	return ""
}

// aboutOther reports whether flags say that the command is about an object of another kind than f
// names, and none that it is about one of this kind.
func (all fields) aboutOther(f *field) (about bool) {
	kind := kindOf(f)
	for i := range all {
		other := &all[i]
		if kind == "" || !other.given {
			continue
		}
		switch k := kindOf(other); {
		case k == kind:
			return false
		case k != "" || other.name == "name":
			about = true
		}
	}
	return about
}

// kindOf returns what kind of object a command with f is about: op, group or queue, or "" for any.
func kindOf(f *field) string {
	if has(f.tag, "actor") {
		return ""
	}
	switch f.name {
	case "op", "call", "run", "runs":
		return "op"
	case "group", "groups", "service", "ended":
		return "group"
	case "queue", "queues", "task", "epoch":
		return "queue"
	}
	return ""
}

// named returns the field of a flag, or nil.
func (all fields) named(flag string) *field {
	for i := range all {
		if f := &all[i]; f.name == flag && !f.argument {
			return f
		}
	}
	return nil
}

// Variable returns the value of a variable about an object to which this process belongs, or "" if
// the command works on another ledger.
func (env *Env) Variable(name string) string {
	if env.Elsewhere() {
		return ""
	}
	return os.Getenv(name)
}

// Elsewhere reports whether --ledger is another ledger than $DPL_LEDGER.
func (env *Env) Elsewhere() bool {
	f := env.flags
	return f.Given("ledger") &&
		!variables.SameLedger(string(f.Ledger), os.Getenv(variables.Ledger))
}

// CallIn returns the call of the operation op that this process is part of, or "".
func (env *Env) CallIn(op string) string {
	if op == "" || env.Variable("DPL_OP") != op {
		return ""
	}
	return env.Variable("DPL_CALL")
}

// Used returns, for tests, the flags of c that have their value from the environment beside args,
// and reports whether c has all flags in args.
func Used(c Command, args []string) (flags []string, has bool) {
	all := fieldsOf(reflect.ValueOf(c).Elem(), nil)
	for i, arg := range args {
		if !strings.HasPrefix(arg, "--") {
			continue
		}
		f := all.flag(arg)
		if f == nil {
			return nil, false
		}
		if f.given = true; i+1 < len(args) {
			f.text = args[i+1]
		}
	}

	for i := range all {
		if v := all.variable(&all[i]); v != "" && all[i].name != "ledger" {
			flags = append(flags, all[i].name)
		}
	}
	return flags, true
}

// Filled returns, for tests, the flags of c that may come from the environment and have a value.
func Filled(c Command) (flags []string) {
	for _, f := range fieldsOf(reflect.ValueOf(c).Elem(), nil) {
		if has(f.tag, "env") && !f.value.IsZero() && f.name != "ledger" {
			flags = append(flags, f.name)
		}
	}
	return flags
}
