package main

import (
	"regexp"
	"slices"
	"strings"
)

var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...")

// roff returns text escaped for roff: the beginning of a line is never a request.
func roff(text string) string {
	text = special.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// marked is what is set in bold or italics where it occurs in a text.
var marked = regexp.MustCompile("`[^`]+`" + `|--[a-z][a-z-]*|\$?\b(?:DPL_[A-Z]+|XDG_STATE_HOME|HOME|NOTIFY_SOCKET)\b|\bdpl-[a-z]+\b(\(1\))?|\b[A-Z][A-Z-]*\b`)

// inline returns text as roff, with flags, variables, commands and text in backquotes in bold, and
// placeholders in italics.
func inline(text string, placeholders []string) string {
	var out strings.Builder
	last := 0
	for _, at := range marked.FindAllStringIndex(text, -1) {
		out.WriteString(special.Replace(text[last:at[0]]))
		word := text[at[0]:at[1]]
		last = at[1]

		switch {
		case word[0] == '`':
			out.WriteString(bold(strings.Trim(word, "`")))
		case slices.Contains(placeholders, word):
			out.WriteString(italic(word))
		case word[0] == '-' || word[0] == '$' || strings.HasPrefix(word, "dpl-") ||
			strings.Contains(word, "_") || word == "HOME":
			name, section, _ := strings.Cut(word, "(")
			out.WriteString(bold(name))
			if section != "" {
				out.WriteString("(" + section)
			}
		default:
			out.WriteString(special.Replace(word))
		}
	}

	out.WriteString(special.Replace(text[last:]))
	return guard(out.String())
}

// guard keeps a line from being a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

func bold(text string) string   { return `\fB` + special.Replace(text) + `\fR` }
func italic(text string) string { return `\fI` + special.Replace(text) + `\fR` }

// placeholders returns the words that stand for something in the usage of c.
func (c *command) placeholders() (words []string) {
	capitals := regexp.MustCompile(`[A-Z][A-Z-]*`)
	for _, f := range c.Flags {
		if f.Values == nil || f.Value != strings.Join(f.Values, "|") {
			words = append(words, capitals.FindAllString(f.Value, -1)...)
		}
	}

	for _, line := range append(c.Usage, c.Arguments) {
		words = append(words, capitals.FindAllString(line, -1)...)
	}
	return words
}

var usageWord = regexp.MustCompile(`--[a-z][a-z-]*|--|[A-Z][A-Z-]*|[a-z][a-z-]*`)

// usage returns a line of a synopsis, or the value of a flag, as roff: flags and fixed words in
// bold, placeholders in italics.
func usage(line string) string {
	var out strings.Builder
	last := 0
	for _, at := range usageWord.FindAllStringIndex(line, -1) {
		out.WriteString(special.Replace(line[last:at[0]]))
		word := line[at[0]:at[1]]
		last = at[1]
		if word == "flags" || word[0] >= 'A' && word[0] <= 'Z' {
			out.WriteString(italic(word))
		} else {
			out.WriteString(bold(word))
		}
	}

	out.WriteString(special.Replace(line[last:]))
	return flagAndValue.ReplaceAllString(out.String(), `$1\ $2`)
}

// flagAndValue stay on one line.
var flagAndValue = regexp.MustCompile(`(\\fB\\-\\-[a-z\\-]+\\fR) (\\fI)`)
