package check

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Verdict is what a check has found.
type Verdict string

// The verdicts (spec §42).
const (
	Passed    Verdict = "passed"
	Failed    Verdict = "failed"
	Uncertain Verdict = "uncertain" // something cannot be told, and nothing is known to be wrong
	Unchecked Verdict = "unchecked" // nothing was looked at
)

// A Report is the result of a check.
type Report struct {
	Looked    int // how many things are known to be right or wrong
	Failed    []Finding
	Uncertain []Finding
}

// A Finding is something that breaks a rule, or may break it.
type Finding struct {
	Rule   string // the name of the member of the rules
	File   string // the file, or the pattern that names none; "" if it is about none
	Want   string // what the rule asks of it: a regular expression, a command, a sentence
	Found  string
	Output string // the end of what the command has printed
}

// Verdict returns the verdict of r. Whatever is wrong comes first.
func (r Report) Verdict() Verdict {
	switch {
	case len(r.Failed) > 0:
		return Failed
	case len(r.Uncertain) > 0:
		return Uncertain
	case r.Looked == 0:
		return Unchecked
	}
	return Passed
}

// Summary returns what decided the verdict of r in one line, of at most some hundred bytes.
func (r Report) Summary() string {
	findings := r.Failed
	if len(findings) == 0 {
		findings = r.Uncertain
	}

	var all []string
	for i, f := range findings {
		if i == mostInSummary {
			all = append(all, fmt.Sprintf("and %d more", len(findings)-i))
			break
		}
		words := []string{f.Rule}
		for _, word := range []string{f.File, f.Want} {
			if word != "" {
				words = append(words, Shorten(word))
			}
		}
		all = append(all, strings.Join(words, " ")+": "+Shorten(f.Found))
	}
	return strings.ToValidUTF8(strings.Join(all, "; "), "")
}

// mostInSummary is how many findings a summary has.
const mostInSummary = 3

// DecodeReport returns the report in text, as dpl-check prints it. Its errors are those of
// wire.Decode. It does not read what a newer version may have added.
func DecodeReport(text string) (Report, error) {
	return wire.DecodeRecord(text, (*Report).record)
}

// record reads r.
func (r *Report) record(c *wire.Codec) {
	c.Known(r.members, "verdict", "looked", "failed", "uncertain")
}

func (r *Report) members(c *wire.Codec) {
	c.Int("looked", &r.Looked, 0, wire.Always)
	wire.Objects(c, "failed", &r.Failed, (*Finding).record, wire.Always)
	wire.Objects(c, "uncertain", &r.Uncertain, (*Finding).record, wire.Always)
}

func (f *Finding) record(c *wire.Codec) { c.Known(f.members) }

func (f *Finding) members(c *wire.Codec) {
	c.String("rule", &f.Rule, wire.Always)
	c.String("file", &f.File, wire.IfSet)
	c.String("want", &f.Want, wire.IfSet)
	c.String("found", &f.Found, wire.Always)
	c.String("output", &f.Output, wire.IfSet)
}
