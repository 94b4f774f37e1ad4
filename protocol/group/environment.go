package group

import (
	"fmt"
	"slices"
	"strings"
)

// A Variable is a variable of an environment.
type Variable struct{ Name, Value string }

// sameVariables reports whether a and b are the same variables, in any order.
func sameVariables(a, b []Variable) bool {
	values := make(map[string]string)
	for _, v := range a {
		values[v.Name] = v.Value
	}
	return len(a) == len(b) && !slices.ContainsFunc(b, func(v Variable) bool {
		value, has := values[v.Name]
		return !has || value != v.Value
	})
}

// RecordedVariables returns the names of the variables that a service gets from the environment in
// which it is registered, besides those of the locale (groups.md §11.6). Variables of a login
// session, such as XDG_RUNTIME_DIR, lose their meaning with the session, so they are not among
// them.
func RecordedVariables() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ"}
}

// IsLocale reports whether name is that of a variable of the locale, such as LC_TIME.
func IsLocale(name string) bool { return strings.HasPrefix(name, "LC_") }

// isRecorded reports whether a registration records the variable name by itself.
func isRecorded(name string) bool {
	return IsLocale(name) || slices.Contains(RecordedVariables(), name)
}

// WithFile returns the environment env, entries of the form NAME=VALUE, together with the variables
// of an environment file (§11.6). Those replace recorded variables, and no others. The last of
// several with one name counts.
func WithFile(env []string, file []Variable) []string {
	merged, places := slices.Clone(env), make(map[string]int)
	for i, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		places[name] = i
	}

	for _, v := range file {
		entry := v.Name + "=" + v.Value
		switch i, there := places[v.Name]; {
		case !there:
			places[v.Name] = len(merged)
			merged = append(merged, entry)
		case i >= len(env) || isRecorded(v.Name):
			merged[i] = entry
		}
	}
	return merged
}

// A BadLine is an error: a line of an environment file is not of the form NAME=VALUE. It does not
// contain the text of that line, which may be a secret.
type BadLine struct {
	Line int // from 1
	Why  string
}

// Error returns which line, and why.
func (b BadLine) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Why) }

// Is reports whether target is ErrBadLine.
func (b BadLine) Is(target error) bool { return target == ErrBadLine }

// ParseEnvironment returns the variables in the text of an environment file, in its order
// (§11.6). It returns a BadLine for the first line that is neither NAME=VALUE, blank nor a comment.
func ParseEnvironment(text string) (all []Variable, err error) {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if start := strings.TrimLeft(line, " \t"); start == "" || start[0] == '#' {
			continue
		}
		name, value, assigns := strings.Cut(line, "=")
		if why := badLine(line, name, value, assigns); why != "" {
			return nil, BadLine{n, why}
		}
		all = append(all, Variable{name, value})
	}
	return all, nil
}

// badLine returns what is wrong with a line, or "".
func badLine(line, name, value string, assigns bool) string {
	switch {
	case strings.Contains(line, "\x00"):
		return "it has a NUL byte"
	case strings.Contains(line, "\r"):
		return `it has a carriage return: remove it, for example with sed 's/\r$//'`
	case strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "export\t"):
		return "remove the word export"
	case !assigns:
		return "want NAME=VALUE"
	case !isVariableName(name):
		return "want a name of letters, digits and _ before ="
	case strings.HasPrefix(name, "DPL_"):
		return "names that begin with DPL_ are reserved"
	case strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'"):
		return "the value begins with a quote: remove the quotes"
	case strings.HasSuffix(value, `\`):
		return "the value ends with a backslash, which continues no line"
	}
	return ""
}

// isVariableName reports whether a shell may use name.
func isVariableName(name string) bool {
	letter := func(c rune) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
	return name != "" && letter(rune(name[0])) && !strings.ContainsFunc(name, func(c rune) bool {
		return !letter(c) && (c < '0' || c > '9')
	})
}
