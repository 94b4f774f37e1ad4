package queue

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An AskSpec is the spec of a question (spec §46.1).
type AskSpec struct {
	Text    string
	Input   string   // an object without white space: what is to be allowed; "": none
	Choices []string // of answers; nil: any text
	Unknown []wire.Member
}

// Content returns the text of s.
func (s AskSpec) Content() Content {
	return Content(wire.Line(func(w *wire.Writer) {
		w.String("text", s.Text)
		if s.Input != "" {
			w.Raw("input", s.Input)
		}
		if len(s.Choices) > 0 {
			w.Strings("choices", s.Choices)
		}
		w.Unknown(s.Unknown)
	}))
}

// Brief returns s in a line for lists, without its input: the text, and the choices.
func (s AskSpec) Brief() string {
	if len(s.Choices) == 0 {
		return s.Text
	}
	return s.Text + " (" + strings.Join(s.Choices, ", ") + ")"
}

// Listed returns the spec of t, an open question, and whether the text in its entry is all that is
// to be seen of it: it was not cut, and there is no input.
func (t *Task) Listed() (spec AskSpec, whole bool) {
	content, _, inline := t.Content()
	if !inline {
		return spec, false
	}
	spec, err := DecodeAskSpec(content)
	return spec, err == nil && spec.Input == "" && spec.Brief() == t.Ask.Text
}

// DecodeAskSpec returns the spec in c. Its errors are those of wire.Decode.
func DecodeAskSpec(c Content) (AskSpec, error) {
	return wire.Decode(string(c), 0, func(r *wire.Reader) (s AskSpec) {
		r.Object(func(name string) {
			switch name {
			case "text":
				s.Text = r.String()
			case "input":
				s.Input = readObject(r)
			case "choices":
				r.Array(func() { s.Choices = append(s.Choices, r.String()) })
			default:
				r.Unknown(&s.Unknown, name)
			}
		})
		return s
	})
}

// CompactObject returns the JSON object in text without the white space around it and between its
// tokens, if it can be the member of a spec. Its errors are those of wire.Decode.
func CompactObject(text string) (string, error) { return wire.Decode(text, 1, readObject) }
