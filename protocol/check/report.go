package check

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

// A Finding is something that breaks a rule, or of which that cannot be told.
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
