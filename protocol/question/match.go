package question

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Evidence is what a decision depends on, beside rules and the request.
type Evidence struct {
	Now time.Time // of the wall clock

	// Inside reports whether path, seen from where the command runs, lies in the directory of dpl-ask
	// with all links resolved (spec §48.3). "" is where the command runs. nil: none does.
	Inside func(path string) bool
}

// A miss says why a rule does not match. The zero value says that it does.
type miss struct{ why, word string }

// String returns a sentence without a full stop, or "".
func (m miss) String() string {
	if m.word == "" {
		return m.why
	}
	return m.why + " " + strconv.Quote(m.word)
}

// applies returns why rule, whatever it decides, has nothing to do with q.
func (rule *Rule) applies(q *Request, now time.Time) miss {
	switch {
	case rule.Tool != "" && q.Tool == "":
		return miss{"the request has no tool", ""}
	case rule.Tool != "" && rule.Tool != q.Tool:
		return miss{"the tool is", q.Tool}
	case !rule.Until.IsZero() && !now.Before(rule.Until):
		return miss{"it has expired", ""}
	}
	return miss{}
}

// stops returns what rule, which denies or asks, says to q, whose command is c. One that denies
// asks if its words only occur in the command: they may be data.
func (rule *Rule) stops(q *Request, c command, now time.Time) (Decision, miss) {
	if m := rule.applies(q, now); m != (miss{}) {
		return "", m
	}
	if rule.Argv == nil {
		return rule.Decide, miss{}
	}
	is := func(words []string) bool { return begins(words, rule.Argv) || named(words, rule.Argv) }
	for _, p := range c.parts {
		if is(p.words) {
			return rule.Decide, miss{}
		}
	}
	for _, words := range c.heaps {
		for i := range words {
			if is(words[i:]) {
				return Ask, miss{}
			}
		}
	}
	return "", miss{"its words do not occur", ""}
}

// begins reports whether prefix is at the beginning of words.
func begins(words, prefix []string) bool {
	return len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
}

// named reports whether words begin with prefix if the directory of the program is left out.
func named(words, prefix []string) bool {
	return len(words) >= len(prefix) && base(words[0]) == prefix[0] &&
		slices.Equal(words[1:len(prefix)], prefix[1:])
}

// allowsTool returns why rule does not allow q, which has no command.
func (rule *Rule) allowsTool(q *Request, seen Evidence) miss {
	if m := rule.applies(q, seen.Now); m != (miss{}) {
		return m
	}
	if rule.Argv != nil {
		return miss{"the request has no command", ""}
	}

	if rule.Paths {
		if m := q.runsInside(seen); m != (miss{}) {
			return m
		}
	}
	if rule.Domains != nil {
		return rule.leavesDomains(q)
	}
	if !rule.Paths {
		return miss{}
	}
	for _, text := range slices.Concat(q.Texts, q.Names) {
		if m := seen.leaves(text); m != (miss{}) {
			return m
		}
	}
	return miss{}
}

// runsInside returns why q does not run in the directory of dpl-ask, or nobody can tell.
func (q *Request) runsInside(seen Evidence) miss {
	switch {
	case q.Moved:
		return miss{"its input names a cwd, which the asker has chosen", ""}
	case !seen.inside(""):
		return miss{"it does not run in the directory", ""}
	}
	return miss{}
}

// others is what the commands that are joined to one, and run before it or at the same time, may
// change.
type others struct {
	moved bool // the directory in which it runs
	loose bool // links in that directory
}

// allows returns why rule does not allow the command words, which is a part of that of q.
func (rule *Rule) allows(q *Request, words []string, o others, seen Evidence) miss {
	if m := rule.applies(q, seen.Now); m != (miss{}) {
		return m
	}
	fixed, wildcard := rule.fixed(), rule.wildcard()
	switch {
	case rule.Argv == nil:
		return miss{"it has no argv, and the request has a command", ""}
	case !begins(words, fixed):
		return differs(words, fixed)
	case len(q.Beside) > 0:
		return miss{"beside the command, the request has", q.Beside[0]}
	case !rule.exact() && runs(words):
		return miss{"it runs other programs, and the rule does not name each word:", words[0]}
	case rule.Paths && o.moved:
		return miss{"it is behind a cd", ""}
	case wildcard == anything:
		return miss{}
	}
	if rule.Paths {
		if m := q.runsInside(seen); m != (miss{}) {
			return m
		}
	}

	for _, word := range words[len(fixed):] {
		var m miss
		if strings.HasPrefix(word, "-") {
			m = rule.allowsOption(word, o, seen)
		} else if m = rule.allowsOperand(word, o, seen); m == (miss{}) && wildcard == "" {
			m = miss{"its argv does not end with *, and there is", word}
		}
		if m != (miss{}) {
			return m
		}
	}
	return miss{}
}

// differs returns where words, which do not begin with fixed, differ from it.
func differs(words, fixed []string) miss {
	for i, word := range words {
		if word != fixed[i] {
			return miss{"its argv has another word than", word}
		}
	}
	return miss{"the command has fewer words than its argv", ""}
}

// allowsOption returns why rule does not allow a further word that begins with -.
func (rule *Rule) allowsOption(word string, o others, seen Evidence) miss {
	m := miss{"not among its options:", word}
	for _, option := range rule.Options {
		value, ok := strings.CutPrefix(word, option)
		if ok && value == "" {
			return miss{}
		}
		if ok && strings.HasSuffix(option, "=") {
			if m = rule.allowsOperand(value, o, seen); m == (miss{}) {
				return m
			}
		}
		if number, ok := strings.CutSuffix(option, "#"); ok && isNumber(word, number) {
			return miss{}
		}
	}
	return m
}

// isNumber reports whether word is prefix and at least one digit, and nothing else.
func isNumber(word, prefix string) bool {
	digits, ok := strings.CutPrefix(word, prefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// allowsOperand returns why rule does not allow a further word, or the value of an option, whatever
// its argv ends with.
func (rule *Rule) allowsOperand(word string, o others, seen Evidence) miss {
	switch {
	case rule.Paths && o.loose:
		return miss{"a command that is joined to it could make a link of", word}
	case rule.Paths:
		return seen.leaves(word)
	case rule.Domains != nil && !rule.leadsTo(word):
		return miss{"no URL of its domains:", word}
	}
	return miss{}
}

func (seen Evidence) inside(path string) bool { return seen.Inside != nil && seen.Inside(path) }

// leaves returns why word may name a path that does not lie in the directory. A program may see a
// path in the word, behind each =, colon, comma, @ and blank in it, and between two of these.
func (seen Evidence) leaves(word string) miss {
	if isRewritten(word) {
		return miss{"a program may read another path than is written in", word}
	}
	for rest := word; ; {
		i := strings.IndexAny(rest, "=:,@ ")
		if !seen.inside(rest) || i >= 0 && !seen.inside(rest[:i]) {
			return miss{"not in the directory:", word}
		}
		if i < 0 {
			return miss{}
		}
		rest = rest[i+1:]
	}
}

// isRewritten reports whether a program may use another path than word: it expands, decodes, matches
// or removes characters of it. Only those are let through of which no program is known to do that,
// and a blank between two letters or digits of ASCII.
func isRewritten(word string) bool {
	for i, r := range word {
		switch {
		case r == ' ' && 0 < i && i < len(word)-1 && isName(rune(word[i-1])) && isName(rune(word[i+1])):
		case r == '%' || r != '=' && !plain(r):
			return true
		}
	}
	return false
}
