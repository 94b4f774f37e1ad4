package question

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Request is what somebody wants to do (spec §48.2).
type Request struct {
	Tool  string
	Argv  []string // the words of a command; nil: there is none, or Shell is it
	Shell string   // a command for a POSIX shell

	Command bool     // it has a command, perhaps of a type that no rule allows
	Beside  []string // names of members beside the command that may change what it does
	Dir     string   // where it runs, seen from where dpl-ask runs
	Moved   bool     // its input names a directory where it runs instead
	Texts   []string // without a command: all strings of its input
	Names   []string // and the names of all members in it
}

// DecodeRequest returns the request in text, a JSON object: tool (or tool_name); argv, or a command
// for a shell as command, which may be in tool_input or input. Its errors are those of wire.Decode.
func DecodeRequest(text string) (Request, error) {
	return wire.Decode(text, 0, func(r *wire.Reader) (q Request) {
		var outer, inner side
		r.Object(func(name string) {
			switch name {
			case "tool", "tool_name":
				if q.Tool != "" {
					r.Refuse("tool and tool_name: give one of them")
				}
				q.Tool = readWord(r)
			case "tool_input", "input":
				if inner.there {
					r.Refuse("tool_input and input: give one of them")
				}
				inner.there = true
				if !r.AtObject() {
					r.Strings(inner.keep)
					return
				}
				r.Object(func(name string) { inner.read(r, name) })
			default:
				outer.read(r, name)
			}
		})

		if outer.both(inner) {
			r.Refuse("argv and command: give one of them, once")
		}
		q.take(outer, inner)
		return q
	})
}

// A side is the outer object of a request, or the input in it.
type side struct {
	there   bool
	argv    []string
	shell   string
	command bool
	beside  []string
	dir     string
	texts   []string
	names   []string
}

func (s *side) read(r *wire.Reader, name string) {
	switch {
	case name == "argv":
		s.command, s.argv = true, []string{}
		r.Array(func() { s.argv = append(s.argv, r.String()) })
	case name == "command" && r.AtString():
		s.command, s.shell = true, readWord(r)
	case name == "cwd" && r.AtString():
		s.dir = r.String()
		s.keep(name, true)
		s.keep(s.dir, false)
	default:
		if s.command = s.command || name == "command"; name != "description" && name != "timeout" {
			s.beside = append(s.beside, name)
		}
		s.keep(name, true)
		r.Strings(s.keep)
	}
}

func (s *side) keep(text string, name bool) {
	if name {
		s.names = append(s.names, text)
	} else {
		s.texts = append(s.texts, text)
	}
}

// both reports whether s and inner have more than one command.
func (s *side) both(inner side) bool {
	count := 0
	for _, is := range []bool{s.argv != nil, s.shell != "", inner.argv != nil, inner.shell != ""} {
		if is {
			count++
		}
	}
	return count > 1
}

// take fills q with what the outer object and the input of the request say.
func (q *Request) take(outer, inner side) {
	has := inner
	if outer.argv != nil || outer.shell != "" || !inner.there {
		has = outer
		if inner.there {
			has.beside = append(has.beside, "input")
		}
	}
	q.Argv, q.Shell, q.Beside = has.argv, has.shell, has.beside
	q.Command = outer.command || inner.command
	q.Texts, q.Names = has.texts, has.names
	q.Dir, q.Moved = outer.dir, inner.dir != ""
}

// Listed returns text, with which q is asked for, and behind it what is to be done.
func (q Request) Listed(text string) string {
	if what := q.String(); what != "" {
		text += " [" + what + "]"
	}
	return text
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
