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

// The last word of the command of a rule that allows may be a wildcard.
const (
	operands = "*"  // any further words that do not begin with -
	anything = "**" // any further words
)

// A Rule says what to do about requests that it matches (spec §48.1). It names a tool, a command,
// or both; one that allows names a tool.
type Rule struct {
	Decide  Decision
	Tool    string    // "": any
	Argv    []string  // the words of the command; nil: any, or none
	Options []string  // further words that begin with -
	Paths   bool      // further words lie in the directory
	Domains []string  // further words are URLs of these hosts; nil: of any
	Until   time.Time // by the wall clock, after which it matches nothing; zero: without end
	Reason  string
}

// Rules are those of one file.
type Rules []Rule

// Decode returns the rules in text. An unknown member is an error, because a rule that is misspelt
// would match more than it says. So is a rule that can never match. Its errors are those of
// wire.Decode.
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
			rule.Decide = wire.ReadWord(r, "decision", Decision.Valid)
		case "tool":
			rule.Tool = readWord(r)
		case "argv":
			rule.Argv = readWords(r)
		case "options":
			rule.Options = readWords(r)
		case "paths":
			if rule.Paths = r.Bool(); !rule.Paths {
				r.Refuse("leave it out, or write true")
			}
		case "domains":
			rule.Domains = readWords(r)
		case "until":
			rule.Until = r.Time()
		case "reason":
			rule.Reason = r.String()
		default:
			r.Refuse("unknown member %q", name)
		}
	})

	r.Require("decide")
	if r.Failed() {
		return
	}
	if why := rule.useless(); why != "" {
		r.Refuse("%s", why)
	}
}

// readWords reads an array of words, and returns nil only if it is refused.
func readWords(r *wire.Reader) []string {
	words := make([]string, 0, 4)
	r.Array(func() { words = append(words, readWord(r)) })
	if len(words) == 0 {
		r.Refuse("at least one word is expected")
		return nil
	}
	return words
}

func readWord(r *wire.Reader) string {
	word := r.String()
	if word == "" && !r.Failed() {
		r.Refuse("it is empty")
	}
	return word
}

// fixed returns the words with which a command begins that rule allows.
func (rule *Rule) fixed() []string {
	if rule.wildcard() != "" {
		return rule.Argv[:len(rule.Argv)-1]
	}
	return rule.Argv
}

// wildcard returns the wildcard at the end of the command of a rule that allows, or "".
func (rule *Rule) wildcard() string {
	if n := len(rule.Argv); rule.Decide == Allow && n > 0 && isWildcard(rule.Argv[n-1]) {
		return rule.Argv[n-1]
	}
	return ""
}

// exact reports whether rule names each word of the command that it allows.
func (rule *Rule) exact() bool { return rule.wildcard() == "" && rule.Options == nil }

func isWildcard(word string) bool { return word == operands || word == anything }
