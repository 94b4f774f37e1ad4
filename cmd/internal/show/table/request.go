package table

import (
	"bytes"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/question"
	"github.com/go-json-experiment/json/jsontext"
)

// A drawer draws the JSON of a request for people: a member per line, and a string with line breaks
// as its lines, behind a margin of its own. So nothing in a string looks like another member.
type drawer struct {
	request question.Request // its tool and command are drawn elsewhere
	margin  string
}

// object returns the lines of the members of v, an object in depth others. Those that take one line
// come last: of a file to be written, the name is next to the prompt, and not above the content.
func (d drawer) object(v jsontext.Value, depth int) (lines []string, err error) {
	r := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}

	var last []string
	for r.PeekKind() != '}' {
		token, err := r.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		member, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		if depth <= 1 && d.isDrawn(name, member) {
			continue
		}

		drawn, err := d.value(quoted(name)+":", member.Clone(), depth)
		if err != nil {
			return nil, err
		}
		if len(drawn) == 1 {
			last = append(last, drawn...)
		} else {
			lines = append(lines, drawn...)
		}
	}
	return append(lines, last...), nil
}

// isDrawn reports whether a member of the request, or of an object in it, is what is drawn as its
// tool or its command.
func (d drawer) isDrawn(name string, v jsontext.Value) bool {
	switch name {
	case "tool", "tool_name":
		return text(v) == d.request.Tool && d.request.Tool != ""
	case "command":
		return text(v) == d.request.Shell && d.request.Shell != ""
	case "argv":
		words, err := elements(v)
		return err == nil && len(words) > 0 && slices.EqualFunc(words, d.request.Argv,
			func(v jsontext.Value, word string) bool { return v.Kind() == '"' && text(v) == word })
	}
	return false
}

// value returns the lines of v, in depth objects and arrays, behind head. There are none for an
// object all of whose members are drawn elsewhere.
func (d drawer) value(head string, v jsontext.Value, depth int) (lines []string, err error) {
	indent := strings.Repeat("  ", depth)
	head = indent + head
	switch v.Kind() {
	case '{':
		if lines, err = d.object(v, depth+1); len(lines) > 0 {
			lines = append([]string{head}, lines...)
		} else if string(v) == "{}" {
			lines = []string{head + " {}"}
		}
		return lines, err
	case '[':
		return d.array(head, v, depth)
	case '"':
		s := text(v)
		if !strings.Contains(s, "\n") {
			return []string{head + " " + quoted(s)}, nil
		}
		lines = []string{head}
		for _, line := range harmless.Lines(s) {
			lines = append(lines, indent+"  "+d.margin+line)
		}
		return lines, nil
	}
	return []string{head + " " + string(v)}, nil
}

// array returns the lines of v, an array behind head: one, if each of its elements takes one.
func (d drawer) array(head string, v jsontext.Value, depth int) (lines []string, err error) {
	all, err := elements(v)
	if err != nil {
		return nil, err
	}
	lines = []string{head}
	var row []string
	for _, e := range all {
		drawn, err := d.value("-", e, depth+1)
		if err != nil {
			return nil, err
		}
		lines = append(lines, drawn...)
		if e.Kind() != '{' && e.Kind() != '[' && len(drawn) == 1 {
			row = append(row, strings.TrimPrefix(strings.TrimLeft(drawn[0], " "), "- "))
		}
	}
	if len(row) == len(all) {
		return []string{head + " [" + strings.Join(row, ", ") + "]"}, nil
	}
	return lines, nil
}

// elements returns the elements of v, an array.
func elements(v jsontext.Value) (all []jsontext.Value, err error) {
	r := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	for r.PeekKind() != ']' {
		e, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, e.Clone())
	}
	return all, nil
}

// text returns the string that v is, or "".
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(s)
}

// quoted draws s as a string of JSON.
func quoted(s string) string {
	return `"` + harmless.Text(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}
