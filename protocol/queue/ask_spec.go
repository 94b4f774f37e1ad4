package queue

import "github.com/dpl-project/dpl/protocol/wire"

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
