package queue

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// A Spec says what a task is (spec §36.1).
type Spec struct {
	Argv        []string // the command; nil: the worker's own
	Dir         string   // absolute; "": the worker's
	Text        string
	Timeout     time.Duration // 0: none
	SoftTimeout time.Duration
	KillAfter   time.Duration // 0: the worker's
	Check       string        // rules (spec §41), an object without white space; "": none
	Unknown     []wire.Member
}

// Content returns the text of s.
func (s Spec) Content() Content { return Content(wire.Line(wire.Record(s.record))) }

// DecodeSpec returns the spec in c. Its errors are those of wire.Decode.
func DecodeSpec(c Content) (Spec, error) { return wire.DecodeRecord(string(c), (*Spec).record) }

func (s *Spec) record(c *wire.Codec) { c.Record(&s.Unknown, s.members) }

func (s *Spec) members(c *wire.Codec) {
	c.Strings("argv", &s.Argv, wire.IfSet)
	c.String("dir", &s.Dir, wire.IfSet)
	c.String("text", &s.Text, wire.IfSet)
	c.Milliseconds("timeoutMs", &s.Timeout, 0, wire.IfSet)
	c.Milliseconds("softTimeoutMs", &s.SoftTimeout, 0, wire.IfSet)
	c.Milliseconds("killAfterMs", &s.KillAfter, 0, wire.IfSet)
	c.Raw("check", &s.Check, readObject, wire.IfSet)
}

// CanRun returns why no worker can run the command of s, as far as that can be told without looking
// for its program, or nil.
func (s Spec) CanRun() error {
	if len(s.Argv) > 0 && s.Argv[0] == "" {
		return errors.New("argv: the first word, the program, is empty")
	}
	for i, word := range s.Argv {
		if err := canPass(word); err != nil {
			return fmt.Errorf("argv: word %d: %w", i+1, err)
		}
	}
	if err := canPass(s.Dir); err != nil {
		return fmt.Errorf("dir %q: %w", s.Dir, err)
	}
	return nil
}

// canPass returns why text cannot be kept in a file and then be passed to the system, or nil.
func canPass(text string) error {
	switch {
	case strings.ContainsRune(text, 0):
		return errors.New("it has a NUL, which nothing can be called with")
	case !utf8.ValidString(text):
		return errors.New("it is not UTF-8, and so cannot be kept in a JSON file")
	}
	return nil
}

// A Request is a task as somebody writes it down (spec §36.3): what is said to the queue, and its
// spec.
type Request struct {
	New
	Spec Spec
}

// DecodeRequests returns the tasks in text: objects one after the other, as in JSON lines, or an
// array of them. An error names the task by its number, from 1.
func DecodeRequests(text string) (all []Request, err error) {
	values, err := split(text)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		r, err := wire.DecodeRecord(value, (*Request).record)
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// split returns the texts of the objects in text, which may be in an array.
func split(text string) (values []string, err error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	array := d.PeekKind() == '['
	if array {
		_, err = d.ReadToken()
	}
	for err == nil && (!array || d.PeekKind() != ']') {
		var v jsontext.Value
		if v, err = d.ReadValue(); err == nil {
			values = append(values, string(v))
		}
	}

	if err == nil {
		_, err = d.ReadToken() // the end of the array
	}
	if err == nil {
		if _, err = d.ReadToken(); err == nil {
			err = errors.New("data after the end of the array")
		}
	}
	if errors.Is(err, io.EOF) {
		return values, nil
	}
	return nil, fmt.Errorf("%w: task %d: %w", wire.ErrCorrupt, len(values)+1, err)
}

// record reads q.
func (q *Request) record(c *wire.Codec) { c.Record(&q.Spec.Unknown, q.members) }

func (q *Request) members(c *wire.Codec) {
	c.Text("taskId", &q.ID, readTaskID, wire.Always)
	c.Text("task_id", &q.ID, readTaskID, wire.Always)
	c.String("key", &q.Key, wire.Always)
	priorityMember(c, &q.Priority)
	c.Texts("after", &q.After, readTaskID, wire.Always)
	c.ID("group", &q.Group, wire.Always)
	c.Milliseconds("delayMs", &q.Delay, 0, wire.Always)
	c.Time("notBefore", &q.NotBefore, wire.Always)
	c.Milliseconds("expiresMs", &q.Expires, 0, wire.Always)
	c.Int64("maxAttempts", &q.MaxAttempts, 1, wire.Always)
	c.Object("retry_policy", q.retryPolicy, wire.Always)
	c.String("working_directory", &q.Spec.Dir, wire.Always)
	q.Spec.members(c)
}

// retryPolicy reads {"max_retries": N}, which is one attempt less than all.
func (q *Request) retryPolicy(c *wire.Codec) {
	c.Known(func(c *wire.Codec) {
		if c.Int64("max_retries", &q.MaxAttempts, 0, wire.Always) {
			q.MaxAttempts++
		}
	})
}

// Priorities returns the lowest and the highest priority.
func Priorities() (least, most int64) { return minPriority, maxPriority }

// IDOf returns the id of a task that has a key and no id (spec §34.1).
func IDOf(key string) string { return "k" + wire.Hash(key)[len(wire.HashPrefix):][:24] }
