package cli

import (
	"bytes"
	"fmt"
	"io"
	"reflect"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/go-json-experiment/json/jsontext"
)

// SchemaVersion is the version of the JSON that the commands print.
const SchemaVersion = 1

// An Object is a JSON object with its members in order. Values are of a type whose
// kind is string, bool, int, int64, []int64, []string, []Object, Object, jsontext.Value, or nil.
type Object []Member

// A Member is a member of an Object: its name, which is a string, and its value.
type Member [2]any

// Name returns the name of m.
func (m Member) Name() string { return m[0].(string) }

// Value returns the value of m.
func (m Member) Value() any { return m[1] }

// PrintJSON prints o as the only document of this command's output, with the schema version first.
// Main reports the error that it returns.
func (env *Env) PrintJSON(o Object) error {
	return env.printJSON(env.Stdout, append(Object{{"schemaVersion", SchemaVersion}}, o...))
}

func (env *Env) printJSON(w io.Writer, o Object) error {
	_, err := w.Write(env.JSONText(o))
	return err
}

// JSONText returns o as JSON. It is indented unless it has a large file in it, which no one would
// read: indentation can make the text many times as long.
func (env *Env) JSONText(o Object) []byte {
	const readable = 1 << 20
	if sizeOfFiles(o) > readable {
		return encode(o)
	}
	return encode(o, jsontext.WithIndent("  "))
}

// JSONLine returns o as one line of JSON, with the schema version first.
func (env *Env) JSONLine(o Object) []byte {
	return encode(append(Object{{"schemaVersion", SchemaVersion}}, o...))
}

func encode(o Object, options ...jsontext.Options) []byte {
	var out bytes.Buffer
	options = append(options, jsontext.AllowInvalidUTF8(true)) // a path may contain any bytes
	if err := write(jsontext.NewEncoder(&out, options...), o); err != nil {
		panic(err)
	}
	return []byte(harmless.JSON(out.String()))
}

// sizeOfFiles returns the size of the files in o.
func sizeOfFiles(o Object) (size int) {
	for _, m := range o {
		if text, ok := m.Value().(jsontext.Value); ok {
			size += len(text)
		}
	}
	return size
}

func write(e *jsontext.Encoder, value any) error {
	switch v := value.(type) {
	case nil:
		return e.WriteToken(jsontext.Null)
	case bool:
		return e.WriteToken(jsontext.Bool(v))
	case int:
		return e.WriteToken(jsontext.Int(int64(v)))
	case int64:
		return e.WriteToken(jsontext.Int(v))
	case jsontext.Value:
		return e.WriteValue(v)
	case Member:
		if err := write(e, v.Name()); err != nil {
			return err
		}
		return write(e, v.Value())
	case Object:
		return writeAll(e, jsontext.BeginObject, v, jsontext.EndObject)
	case []Object:
		return writeAll(e, jsontext.BeginArray, v, jsontext.EndArray)
	case []int64:
		return writeAll(e, jsontext.BeginArray, v, jsontext.EndArray)
	case []string:
		return writeAll(e, jsontext.BeginArray, v, jsontext.EndArray)
	}

	if text := reflect.ValueOf(value); text.Kind() == reflect.String {
		return e.WriteToken(jsontext.String(text.String()))
	}
	return fmt.Errorf("%T cannot be printed", value)
}

func writeAll[T any](e *jsontext.Encoder, begin jsontext.Token, values []T,
	end jsontext.Token) error {
	if err := e.WriteToken(begin); err != nil {
		return err
	}

	for _, v := range values {
		if err := write(e, v); err != nil {
			return err
		}
	}

	return e.WriteToken(end)
}

// OrNull returns v, or nil if it is zero.
func OrNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// Result returns the result of an edit of an operation that every command prints.
func Result(e session.Edit) Object {
	op := e.After
	return Object{{"operationId", op.ID}, {"state", op.State}, {"revision", op.Revision},
		{"changed", e.Changed()}}
}

// Cause returns the facts of why an operation failed, or nil.
func Cause(c *protocol.Cause) any {
	if c == nil {
		return nil
	}
	var status any // unknown, which is not 0
	if c.Exit.Known && c.Exit.Signal == "" {
		status = c.Exit.Status
	}
	return Object{{"call", c.Call}, {"evidence", OrNull(c.Evidence)}, {"status", status},
		{"signal", OrNull(c.Exit.Signal)}, {"reason", OrNull(c.Reason)}}
}

// CrashedCall returns the JSON that describes a crashed frame.
func CrashedCall(op protocol.Operation, f *protocol.Frame) Object {
	o := Object{
		{"operationId", op.ID}, {"callId", f.CallID},
		{"supervisorHandle", OrNull(f.SupervisorHandle)},
		{"participantId", f.ParticipantID},
	}

	if c := f.Crash; c != nil {
		o = append(o, Object{
			{"evidence", c.Evidence}, {"staleForMs", c.StaleFor.Milliseconds()},
			{"previousState", c.PreviousState},
		}...)
	}

	return o
}

// LeftResources returns the resources that could not be deleted, under the names of the file.
func LeftResources(left []observe.LeftResource) []Object {
	all := []Object{}
	for _, l := range left {
		all = append(all, Object{{"path", l.Path}, {"error", l.Error}})
	}
	return all
}
