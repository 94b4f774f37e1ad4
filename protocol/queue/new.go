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
func (s Spec) Content() Content { return Content(wire.Line(s.write)) }

func (s Spec) write(w *wire.Writer) {
	if len(s.Argv) > 0 {
		w.Strings("argv", s.Argv)
	}
	w.OptString("dir", s.Dir)
	w.OptString("text", s.Text)
	w.OptInt("timeoutMs", s.Timeout.Milliseconds())
	w.OptInt("softTimeoutMs", s.SoftTimeout.Milliseconds())
	w.OptInt("killAfterMs", s.KillAfter.Milliseconds())
	if s.Check != "" {
		w.Raw("check", s.Check)
	}
	w.Unknown(s.Unknown)
}

// DecodeSpec returns the spec in c. Its errors are those of wire.Decode.
func DecodeSpec(c Content) (Spec, error) {
	return wire.Decode(string(c), 0, func(r *wire.Reader) (s Spec) {
		r.Object(func(name string) {
			if !s.readMember(r, name) {
				r.Unknown(&s.Unknown, name)
			}
		})
		return s
	})
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

func (s *Spec) readMember(r *wire.Reader, name string) bool {
	switch name {
	case "argv":
		s.Argv = nil
		r.Array(func() { s.Argv = append(s.Argv, r.String()) })
	case "dir":
		s.Dir = r.String()
	case "text":
		s.Text = r.String()
	case "timeoutMs":
		s.Timeout = r.Milliseconds(0)
	case "softTimeoutMs":
		s.SoftTimeout = r.Milliseconds(0)
	case "killAfterMs":
		s.KillAfter = r.Milliseconds(0)
	case "check":
		s.Check = readObject(r)
	default:
		return false
	}
	return true
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
		r, err := wire.Decode(value, 0, readRequest)
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

func readRequest(r *wire.Reader) (q Request) {
	r.Object(func(name string) {
		switch name {
		case "taskId", "task_id":
			q.ID = readTaskID(r)
		case "key":
			q.Key = r.String()
		case "priority":
			q.Priority = readPriority(r)
		case "after":
			r.Array(func() { q.After = append(q.After, readTaskID(r)) })
		case "group":
			q.Group = r.ID()
		case "delayMs":
			q.Delay = r.Milliseconds(0)
		case "notBefore":
			q.NotBefore = r.Time()
		case "expiresMs":
			q.Expires = r.Milliseconds(0)
		case "maxAttempts":
			q.MaxAttempts = r.Int(1)
		case "retry_policy":
			q.readRetryPolicy(r)
		case "working_directory":
			q.Spec.Dir = r.String()
		default:
			if !q.Spec.readMember(r, name) {
				r.Unknown(&q.Spec.Unknown, name)
			}
		}
	})
	return q
}

// readRetryPolicy reads {"max_retries": N}, which is one attempt less than all.
func (q *Request) readRetryPolicy(r *wire.Reader) {
	r.Object(func(name string) {
		if name == "max_retries" {
			q.MaxAttempts = r.Int(0) + 1
		} else {
			r.Value()
		}
	})
}

// readPriority reads a priority.
func readPriority(r *wire.Reader) int64 {
	n := r.Int(minPriority)
	if n > maxPriority {
		r.Refuse("a priority of at most %d is expected", int64(maxPriority))
	}
	return n
}

// Priorities returns the lowest and the highest priority.
func Priorities() (least, most int64) { return minPriority, maxPriority }

// IDOf returns the id of a task that has a key and no id (spec §34.1).
func IDOf(key string) string { return "k" + wire.Hash(key)[len(wire.HashPrefix):][:24] }
