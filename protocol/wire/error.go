package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrCorrupt means that a file is not valid.
var ErrCorrupt = errors.New("corrupt")

// An Error says where and why a file is not valid (spec §1.3).
type Error struct {
	Path  string // JSON Pointer
	Cause string
	Is    error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return abridged(e.Cause)
	}
	return fmt.Sprintf("%s: %s", abridged(e.Path), abridged(e.Cause))
}

func (e *Error) Unwrap() error { return e.Is }

// abridged returns text with only 100 bytes each of its beginning and its end, because names and
// values in a file may have any length.
func abridged(text string) string {
	const most = 100
	if len(text) <= 2*most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..." +
		strings.ToValidUTF8(text[len(text)-most:], "")
}

// in returns the failure as an error with its place in text.
func (f *failure) in(text string) *Error {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	for dec.InputOffset() < int64(f.at) {
		if _, err := dec.ReadToken(); err != nil {
			break
		}
	}
	return &Error{Path: string(dec.StackPointer()) + f.member, Cause: f.cause, Is: f.is}
}

// CheckDepth returns ErrCorrupt if text is nested too deep. within is the number of objects and
// arrays around text in its file. text need not be JSON.
func CheckDepth(text string, within int) error {
	deepest, open, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}

	if within+deepest <= MaxDepth {
		return nil
	}

	cause := fmt.Sprintf("it is nested more than %d deep", MaxDepth-within)
	return &Error{Cause: cause, Is: ErrCorrupt}
}

// CheckSyntax returns ErrCorrupt unless text is one JSON value. It gives the reason, which a Reader
// does not.
func CheckSyntax(text string) error {
	if strings.Trim(text, whiteSpace) == "" {
		return &Error{Cause: "the file is empty", Is: ErrCorrupt}
	}

	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	_, err := dec.ReadValue()
	e, ok := errors.AsType[*jsontext.SyntacticError](err)

	switch {
	case ok && !errors.Is(err, io.ErrUnexpectedEOF):
		cause := fmt.Sprintf("%v at byte %d", e.Err, e.ByteOffset)
		return &Error{Path: string(e.JSONPointer), Cause: cause, Is: ErrCorrupt}
	case err != nil:
		return &Error{Cause: "the file ends too early", Is: ErrCorrupt}
	}

	if strings.Trim(text[dec.InputOffset():], whiteSpace) != "" {
		return &Error{Cause: "data after the end of the object", Is: ErrCorrupt}
	}

	return nil
}

const whiteSpace = " \t\r\n"
