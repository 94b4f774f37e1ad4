package check

import (
	"regexp"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Decode returns the rules in text (spec §41). It refuses members that it does not know, empty
// lists and empty texts: a rule that asks nothing is a mistake. Its errors are those of
// wire.DecodeStrict. It does not tell whether the schemas of Shapes are valid.
func Decode(text string) (Rules, error) { return wire.DecodeStrict(text, (*Rules).record) }

// record reads rules.
func (rules *Rules) record(c *wire.Codec) {
	rules.Timeout = DefaultTimeout
	var unknown []wire.Member // refused
	c.Record(&unknown, rules.members)

	if c.Had("timeoutMs") && !c.Had("command") {
		c.FailMember("timeoutMs", "it goes with command")
	}
	if rules.Strict && c.Had("prose") {
		c.FailMember("uncertain", "prose is always uncertain, so nothing would ever pass")
	}
}

func (rules *Rules) members(c *wire.Codec) {
	own := func(name string, read func(r *wire.Reader)) { c.Own(name, read, nil, wire.Always) }

	schema := "" // for editors
	c.String("$schema", &schema, wire.IfSet)
	own("exit", func(r *wire.Reader) { rules.Exit = readSome(r, readStatus) })
	own("files", func(r *wire.Reader) { rules.Files = readSome(r, readPattern) })
	own("changed", func(r *wire.Reader) { rules.Changed = readSome(r, readPattern) })
	own("contains", func(r *wire.Reader) { rules.Contains = readTexts(r) })
	own("absent", func(r *wire.Reader) { rules.Absent = readTexts(r) })
	own("json", func(r *wire.Reader) {
		rules.JSON = readFiles(r, func(p Pattern) Shape { return Shape{p, readSchema(r)} })
	})
	own("command", func(r *wire.Reader) { rules.Command = readSome(r, readWord) })
	c.Milliseconds("timeoutMs", &rules.Timeout, 1, wire.IfSet)
	own("uncertain", func(r *wire.Reader) { rules.Strict = readUncertain(r) })
	own("prose", func(r *wire.Reader) { rules.Prose = readOneOrMore(r, readText) })
}

// readSome reads an array that is not empty.
func readSome[T any](r *wire.Reader, read func(r *wire.Reader, first bool) T) (all []T) {
	r.Array(func() { all = append(all, read(r, len(all) == 0)) })
	if len(all) == 0 {
		r.Refuse("it is empty: leave it out")
	}
	return all
}

// readOneOrMore reads one string, or an array of them that is not empty.
func readOneOrMore[T any](r *wire.Reader, read func(r *wire.Reader, first bool) T) []T {
	if r.AtString() {
		return []T{read(r, true)}
	}
	return readSome(r, read)
}

// readUncertain reads what to do about what cannot be told, and reports whether that is to fail.
func readUncertain(r *wire.Reader) bool {
	word := r.String()
	if word != "fail" && word != "block" {
		r.Refuse("want fail or block, not %.80q", word)
	}
	return word == "fail"
}

// readFiles reads an object whose names are patterns.
func readFiles[T any](r *wire.Reader, value func(Pattern) T) (all []T) {
	r.Object(func(name string) {
		p, err := ParsePattern(name)
		if err != nil {
			r.Refuse("%v", err)
			return
		}
		all = append(all, value(p))
	})
	if len(all) == 0 {
		r.Refuse("it is empty: leave it out")
	}
	return all
}

func readTexts(r *wire.Reader) []Text {
	return readFiles(r, func(p Pattern) Text { return Text{p, readOneOrMore(r, readMatch)} })
}

func readStatus(r *wire.Reader, _ bool) int64 {
	status := r.Int(0)
	if status > 255 {
		r.Refuse("an exit status is at most 255")
	}
	return status
}

func readPattern(r *wire.Reader, _ bool) Pattern {
	p, err := ParsePattern(r.String())
	if err != nil {
		r.Refuse("%v", err)
	}
	return p
}

func readMatch(r *wire.Reader, _ bool) Match {
	source := readText(r, true)
	if _, err := regexp.Compile(source); err != nil {
		r.Refuse("%v", err)
		return Match{}
	}

	expr, err := regexp.Compile("(?m)" + source)
	if err != nil { // its parentheses nest as deep as they may
		r.Refuse("%v", err)
	}
	return Match{source, expr}
}

// readText reads a string that is not empty.
func readText(r *wire.Reader, _ bool) string {
	text := r.String()
	if text == "" {
		r.Refuse("it is empty")
	}
	return text
}

// readWord reads a word of a command. Only the first must not be empty.
func readWord(r *wire.Reader, first bool) string {
	word := r.String()
	switch {
	case first && word == "":
		r.Refuse("it is empty")
	case strings.ContainsRune(word, 0):
		r.Refuse("no command takes a NUL")
	}
	return word
}
