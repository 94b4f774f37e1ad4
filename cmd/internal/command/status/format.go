package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
)

// A format is the template of --format. It sees the document of --json: objects as maps, numbers as
// int64 or float64, and null as an empty list.
type format struct{ *template.Template }

// parseFormat returns the format for text. In text outside of actions, \n and \t are characters.
func parseFormat(text string) (*format, error) {
	t, err := template.New("--format").Option("missingkey=error").Funcs(template.FuncMap{
		"json": compactJSON, "join": join, "duration": duration,
	}).Parse(unescape(text))
	if err != nil {
		return nil, badFormat(err)
	}
	return &format{t}, nil
}

// badFormat returns err, which names the place in the template, as an error of the user.
func badFormat(err error) error {
	return cli.Usagef("%s", strings.TrimPrefix(err.Error(), "template: "))
}

// unescape replaces \n and \t outside of actions.
func unescape(text string) string {
	escapes := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	var out strings.Builder
	for text != "" {
		outside, rest, _ := strings.Cut(text, "{{")
		out.WriteString(escapes.Replace(outside))
		if len(outside) == len(text) {
			break
		}
		action, after, closed := strings.Cut(rest, "}}")
		out.WriteString("{{" + action)
		if closed {
			out.WriteString("}}")
		}
		text = after
	}
	return out.String()
}

// print prints the result o as --json or --format says. With --format, list is the name of the
// member to whose elements the template is applied, or "" if it is applied to o. A newline follows
// each time. After an error, nothing is printed.
func (s *reporter) print(o cli.Object, list string) error {
	if s.format == nil {
		s.env.PrintJSON(o)
		return nil
	}

	var document map[string]any
	d := json.NewDecoder(bytes.NewReader(s.env.JSONLine(o)))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		return err // it was written just now
	}

	values := []any{document}
	if list != "" {
		values, _ = document[list].([]any)
	}
	var out bytes.Buffer
	for _, v := range values {
		if err := s.format.Execute(&out, typed(v)); err != nil {
			return badFormat(err)
		}
		out.WriteByte('\n')
	}
	_, err := s.env.Stdout.Write(out.Bytes())
	return err
}

// machine reports whether the output is for a program.
func (s *reporter) machine() bool { return s.env.JSON() || s.format != nil }

// text is a string, which is printed without what a terminal would obey.
type text string

func (t text) String() string { return harmless.Text(string(t)) }

// null is printed as nothing, and is false.
type null []struct{}

func (null) String() string { return "" }

func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// typed returns v with the types that a template can use.
func typed(v any) any {
	switch v := v.(type) {
	case nil:
		return null(nil)
	case string:
		return text(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		n, _ := v.Float64()
		return n
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = typed(v[i])
		}
		return v
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[harmless.Text(name)] = typed(member) // which prints the names of a map as they are
		}
		return object
	}
	return v
}

// compactJSON returns v as a line of JSON.
func compactJSON(v any) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return harmless.JSON(strings.TrimSuffix(out.String(), "\n")), err
}

// join returns the elements of list with separator between them.
func join(list any, separator text) (string, error) {
	var words []string
	switch list := list.(type) {
	case null:
	case []any:
		for _, v := range list {
			words = append(words, fmt.Sprint(v))
		}
	default:
		return "", fmt.Errorf("join: want a list, not %v", list)
	}
	return strings.Join(words, string(separator)), nil
}

// duration returns a number of milliseconds as people read it.
func duration(ms any) (string, error) {
	switch ms := ms.(type) {
	case null:
		return "", nil
	case int64:
		return (time.Duration(ms) * time.Millisecond).String(), nil
	}
	return "", fmt.Errorf("duration: want milliseconds, not %v", ms)
}
