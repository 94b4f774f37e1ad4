package question

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Request is what somebody wants to do (spec §48.2).
type Request struct {
	Tool  string
	Argv  []string // the words of a command; nil: there is none, or Shell is it
	Shell string   // a command for a shell
}

// DecodeRequest returns the request in text, a JSON object: tool (or tool_name); argv, or a command
// for a shell as command, which may be in tool_input or input. Other members say nothing about it.
// Its errors are those of wire.Decode.
func DecodeRequest(text string) (Request, error) {
	return wire.Decode(text, 0, func(r *wire.Reader) (q Request) {
		q.read(r, true)
		if q.Argv != nil && q.Shell != "" {
			r.Refuse("argv and command: give one of them")
		}
		return q
	})
}

func (q *Request) read(r *wire.Reader, outer bool) {
	r.Object(func(name string) {
		switch {
		case outer && (name == "tool" || name == "tool_name"):
			if q.Tool != "" {
				r.Refuse("tool and tool_name: give one of them")
			}
			q.Tool = readWord(r)
		case name == "argv":
			if q.Argv != nil {
				r.Refuse("argv is given twice")
			}
			q.Argv = []string{}
			r.Array(func() { q.Argv = append(q.Argv, r.String()) })
		case name == "command" && r.AtString():
			if q.Shell != "" {
				r.Refuse("command is given twice")
			}
			q.Shell = readWord(r)
		case outer && (name == "tool_input" || name == "input") && r.AtObject():
			q.read(r, false)
		default:
			r.Value()
		}
	})
}

// String says what is to be done, in one line that may be cut.
func (q Request) String() string {
	command := q.Shell
	if q.Argv != nil {
		command = strings.Join(q.Argv, " ")
	}
	switch {
	case q.Tool == "":
		return command
	case command == "":
		return q.Tool
	}
	return q.Tool + ": " + command
}
