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
func Decode(text string) (Rules, error) { return wire.DecodeRecord(text, (*Rules).record) }

// record reads rules.
func (rules *Rules) record(c *wire.Codec) {
	c.Only(rules.members, "rules")
}

func (rules *Rules) members(c *wire.Codec) {
	schema := "" // for editors
	c.String("$schema", &schema, wire.IfSet)
	c.Own("rules", rules.read, nil, wire.Always)
}

func (rules *Rules) read(r *wire.Reader) {
	*rules = make(Rules, 0, strings.Count(r.Text(), `"decide"`))
	r.Array(func() {
		*rules = append(*rules, Rule{})
		(*rules)[len(*rules)-1].record(r.Codec())
	})
}

// record reads rule.
func (rule *Rule) record(c *wire.Codec) {
	c.Only(rule.members, "decide")
	if c.Reader().Failed() {
		return
	}
	if why := rule.useless(); why != "" {
		c.Refuse("%s", why)
	}
}

func (rule *Rule) members(c *wire.Codec) {
	wire.Word(c, "decide", &rule.Decide, "decision", Decision.Valid, wire.Always)
	c.Text("tool", &rule.Tool, readWord, wire.IfSet)
	wordsMember(c, "argv", &rule.Argv)
	wordsMember(c, "options", &rule.Options)
	if c.Bool("paths", &rule.Paths, wire.IfSet) && !rule.Paths {
		c.Refuse("leave it out, or write true")
	}
	wordsMember(c, "domains", &rule.Domains)
	c.Time("until", &rule.Until, wire.IfSet)
	c.String("reason", &rule.Reason, wire.IfSet)
}

// wordsMember is an array of words, of which there is at least one.
func wordsMember(c *wire.Codec, name string, words *[]string) {
	if c.Texts(name, words, readWord, wire.IfSet) && len(*words) == 0 {
		c.Refuse("at least one word is expected")
	}
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
