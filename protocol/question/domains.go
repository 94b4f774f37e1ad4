package question

import (
	"slices"
	"strings"
	"unicode"
)

// leadsTo reports whether text is a URL of http or https whose host, with its port if it has one,
// is among the domains of rule (spec §48.3).
func (rule *Rule) leadsTo(text string) bool {
	rest, ok := strings.CutPrefix(text, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(text, "http://")
	}
	isOther := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }
	if !ok || strings.ContainsFunc(rest, isOther) {
		return false
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	name, port, ported := strings.Cut(strings.ToLower(host), ":")
	name = strings.TrimSuffix(name, ".")
	if ported {
		name += ":" + port
	}
	return slices.Contains(rule.Domains, name)
}

// leavesDomains returns why the input of q may have a URL that is not one of the domains of rule.
func (rule *Rule) leavesDomains(q *Request) miss {
	for _, text := range q.Texts {
		if !rule.leadsTo(text) && !isProse(text) {
			return miss{"neither a URL of its domains nor a sentence:", text}
		}
	}
	isOther := func(r rune) bool { return !isName(r) && r != '_' && r != '-' }
	for _, name := range q.Names {
		if strings.ContainsFunc(name, isOther) && !rule.leadsTo(name) && !isProse(name) {
			return miss{"neither a URL of its domains nor a plain name of a member:", name}
		}
	}
	return miss{}
}

// isHost reports whether text is the name of a host as rules have it, perhaps with a port.
func isHost(text string) bool {
	name, port, ported := strings.Cut(text, ":")
	if ported && (port == "" || strings.Trim(port, "0123456789") != "") {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

// isProse reports whether text begins with a word and a space, and names no URL, so that no program
// takes it for one or opens one in it. A host has no space, so the text is none as a whole, and what a
// program removes at the beginning is in no word. Clients complete https:/host and https:host, and
// remove line breaks: so a colon has a space behind it, unless it is the last character.
func isProse(text string) bool {
	word, _, ok := strings.Cut(text, " ")
	isOther := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }
	if !ok || word == "" || strings.ContainsFunc(word, isOther) {
		return false
	}
	colons := strings.Count(text, ":") - strings.Count(text, ": ")
	return colons == 0 || colons == 1 && strings.HasSuffix(text, ":")
}
