package question

import (
	"slices"
	"strconv"
	"strings"
)

// An Explanation says why a request is decided as it is.
type Explanation struct {
	Verdict Verdict
	Why     string    // why no rule decides; "": one does
	Rules   [][]Match // of each file
}

// A Match says whether a rule matches. A rule that allows matches a command of several parts if it
// allows one of them.
type Match struct {
	Decision Decision // of the rule for this request; "": it does not match
	Why      string   // why it does not match, or what it matches
}

// Explain returns what Decide says, and why.
func Explain(q Request, files []Rules, seen Evidence) Explanation {
	c := q.command()
	e := Explanation{Verdict: Decide(q, files, seen), Rules: make([][]Match, len(files))}
	all := q.around(c.parts, files, seen)

	allowed := make([]bool, len(c.parts))
	for i, rules := range files {
		e.Rules[i] = make([]Match, len(rules))
		for j := range rules {
			e.Rules[i][j] = rules[j].match(&q, c, all, allowed, seen)
		}
	}

	if e.Verdict.File >= 0 {
		return e
	}
	e.Why = "no rule matches"
	for i, is := range allowed {
		if !is && len(allowed) > 1 {
			e.Why = "no rule allows " + line(c.parts[i].words)
			break
		}
	}
	if q.Command && c.parts == nil {
		e.Why = notUnderstood
	}
	return e
}

const notUnderstood = "the command is not understood: no rule allows it"

// match returns how rule matches, and notes in allowed the parts that it allows.
func (rule *Rule) match(q *Request, c command, all []others, allowed []bool, seen Evidence) Match {
	switch {
	case rule.Decide != Allow:
		d, m := rule.stops(q, c, seen.Now)
		return Match{d, m.String()}
	case !q.Command:
		if m := rule.allowsTool(q, seen); m != (miss{}) {
			return Match{"", m.String()}
		}
		return Match{Decision: Allow}
	case c.parts == nil:
		m := rule.applies(q, seen.Now)
		if m == (miss{}) {
			m.why = notUnderstood
		}
		return Match{"", m.String()}
	}

	var misses, matched []string
	for i, p := range c.parts {
		m := rule.allows(q, p.words, all[i], seen)
		if m == (miss{}) {
			allowed[i] = true
			matched = append(matched, line(p.words))
		} else if why := m.String(); !slices.Contains(misses, why) {
			misses = append(misses, why)
		}
	}
	switch {
	case matched == nil:
		return Match{"", strings.Join(misses, "; ")}
	case len(c.parts) == 1:
		return Match{Decision: Allow}
	}
	return Match{Allow, strings.Join(matched, ", ")}
}

// String returns the rule in one line: its wildcards as (words) and (anything), its options in
// brackets.
func (rule *Rule) String() string {
	var b strings.Builder
	b.WriteString(string(rule.Decide))
	if rule.Tool != "" {
		b.WriteString(" " + line([]string{rule.Tool}))
	}
	if rule.Argv != nil {
		b.WriteString(": " + line(rule.fixed()))
	}
	if rule.Options != nil {
		b.WriteString(" [" + line(rule.Options) + "]")
	}
	switch {
	case rule.wildcard() == operands:
		b.WriteString(" (words)")
	case rule.wildcard() == anything, rule.Decide != Allow && rule.Argv != nil:
		b.WriteString(" (anything)")
	}
	if rule.Paths {
		b.WriteString(" in the directory")
	}
	if rule.Domains != nil {
		b.WriteString(" at " + strings.Join(rule.Domains, ", "))
	}
	return b.String()
}

// line returns words in one line, with quotes around those that are not plain.
func line(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		isOther := func(r rune) bool { return !plain(r) && r != '=' && r != '#' }
		if word == "" || strings.ContainsFunc(word, isOther) {
			word = strconv.Quote(word)
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}
