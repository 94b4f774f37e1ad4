package question

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Decision is what a rule says.
type Decision string

const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask" // a person
)

// Valid reports whether d is one of the three.
func (d Decision) Valid() bool { return d == Allow || d == Deny || d == Ask }

// A Rule says what to do about requests that it fits (spec §48.1). It names a tool, a command, or
// both.
type Rule struct {
	Decide Decision
	Tool   string    // "": any
	Argv   []string  // the first words of the command; nil: any, or none
	Until  time.Time // by the wall clock, after which it fits nothing; zero: for ever
	Reason string
}

// Rules are those of one file.
type Rules []Rule

// Decode returns the rules in text. An unknown member is an error, because a rule that is misspelt
// would fit more than it says. Its errors are those of wire.Decode.
func Decode(text string) (Rules, error) {
	return wire.Decode(text, 0, func(r *wire.Reader) (rules Rules) {
		r.Object(func(name string) {
			switch name {
			case "$schema":
				_ = r.String() // for editors
			case "rules":
				rules = make(Rules, 0, strings.Count(text, `"decide"`))
				r.Array(func() {
					rules = append(rules, Rule{})
					rules[len(rules)-1].read(r)
				})
			default:
				r.Refuse("unknown member %q", name)
			}
		})
		r.Require("rules")
		return rules
	})
}

func (rule *Rule) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "decide":
			rule.Decide = wire.Word(r, "decision", Decision.Valid)
		case "tool":
			rule.Tool = readWord(r)
		case "argv":
			rule.Argv = make([]string, 0, 4)
			r.Array(func() { rule.Argv = append(rule.Argv, readWord(r)) })
			if len(rule.Argv) == 0 {
				r.Refuse("a command of at least one word is expected")
			}
		case "until":
			rule.Until = r.Time()
		case "reason":
			rule.Reason = r.String()
		default:
			r.Refuse("unknown member %q", name)
		}
	})

	r.Require("decide")
	if rule.Tool == "" && rule.Argv == nil {
		r.Refuse("a rule needs tool or argv: without both it would fit everything")
	}
}

func readWord(r *wire.Reader) string {
	word := r.String()
	if word == "" && !r.Failed() {
		r.Refuse("it is empty")
	}
	return word
}
