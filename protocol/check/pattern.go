package check

import (
	"errors"
	"path"
	"strings"
)

// A Pattern names files inside a directory: a path with slashes, whose components may have *, ? and
// [ ] as in [path.Match] (spec §41.1). It never leads out of the directory by itself.
type Pattern string

// ParsePattern returns text as a pattern, or an error that says why it is none.
func ParsePattern(text string) (Pattern, error) {
	switch {
	case text == "":
		return "", errors.New("it is empty")
	case strings.ContainsRune(text, 0):
		return "", errors.New("no file has a NUL in its name")
	case text[0] == '/':
		return "", errors.New("want a path inside the directory of the attempt, not an absolute one")
	}

	for component := range strings.SplitSeq(text, "/") {
		switch component {
		case "..":
			return "", errors.New(`want a path inside the directory of the attempt, without ".."`)
		case "", ".":
			return "", errors.New(`want the path of a file, without empty components and "."`)
		}
		if _, err := path.Match(component, ""); err != nil {
			return "", errors.New("a [ without a ], or a \\ at its end")
		}
	}
	return Pattern(text), nil
}

// Path returns the path that p is, if it has no *, ? or [ ].
func (p Pattern) Path() (name string, only bool) {
	components := strings.Split(string(p), "/")
	for i, component := range components {
		if components[i], only = literal(component); !only {
			return "", false
		}
	}
	return strings.Join(components, "/"), true
}

// literal returns the only name that component, of a pattern, matches, without its backslashes.
func literal(component string) (name string, only bool) {
	var out strings.Builder
	for i := 0; i < len(component); i++ {
		switch component[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
		}
		out.WriteByte(component[i])
	}
	return out.String(), true
}

// texts returns patterns as they were written.
func texts(patterns []Pattern) []string {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = string(p)
	}
	return all
}
