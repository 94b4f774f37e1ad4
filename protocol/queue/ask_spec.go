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
func (s AskSpec) Content() Content { return Content(wire.Line(wire.Record(s.record))) }

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
	return wire.DecodeRecord(string(c), (*AskSpec).record)
}

func (s *AskSpec) record(c *wire.Codec) { c.Record(&s.Unknown, s.members) }

func (s *AskSpec) members(c *wire.Codec) {
	c.String("text", &s.Text, wire.Always)
	c.Raw("input", &s.Input, readObject, wire.IfSet)
	c.Strings("choices", &s.Choices, wire.IfSet)
}

// CompactObject returns the JSON object in text without the white space around it and between its
// tokens, if it can be the member of a spec. Its errors are those of wire.Decode.
func CompactObject(text string) (string, error) { return wire.Decode(text, 1, readObject) }
