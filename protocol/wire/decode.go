package wire

import (
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// Version is the highest protocolVersion that this program understands.
const Version = 1

// ErrNewerVersion means that a file has a protocolVersion above Version.
var ErrNewerVersion = errors.New("written by a newer version of the protocol")

// No edit makes a revision, or the number of an alert, above LastRevision; a reader accepts twice
// that. So the result of an edit can always be read, even if a pass counts further by a few.
const (
	LastRevision = 1 << 61
	maxRevision  = 1 << 62
)

// ErrExhausted means that an edit would make a number higher than LastRevision.
var ErrExhausted = errors.New("a revision, or the number of an alert, is as high as it may become")

// Decode returns the result of read on text, which must have nothing after it. within is the number
// of objects around text in its file. The error is an *Error: ErrCorrupt, ErrNewerVersion, or
// another one that read has failed with.
func Decode[T any](text string, within int, read func(*Reader) T) (T, error) {
	return decode(text, within, false, read)
}

// DecodeStrict is DecodeRecord for a text that a person writes, in which an unknown member is a
// mistake: ErrCorrupt.
func DecodeStrict[T any](text string, record func(*T, *Codec)) (T, error) {
	return decode(text, 0, true, reading(record))
}

func decode[T any](text string, within int, strict bool, read func(*Reader) T) (T, error) {
	var zero T
	if len(text) > math.MaxInt32 {
		return zero, &Error{Cause: "the file is larger than 2 GiB", Is: ErrCorrupt}
	}

	known := layouts.Get().(*layout)
	r := newReader(text, within, known)
	r.strict = strict
	value := read(r)
	r.End()
	if r.Failed() {
		return zero, r.refusal()
	}

	if len(text) <= 64<<10 { // because a layout keeps the text that it describes
		layouts.Put(known)
	}
	return value, nil
}

// layouts are of files read before. A pass reads thousands of files with the same layout. They are
// only hints: a reader compares each with its text. The layout of a refused text is not among them,
// because it may have a name twice.
var layouts = sync.Pool{New: func() any { return &layout{} }}

// refusal returns the reason why r refuses its text: first that it is nested too deep or not JSON,
// then its protocolVersion, because a newer version may allow what is refused.
func (r *Reader) refusal() error {
	err := r.Err()
	isNewer := errors.Is(err, ErrNewerVersion)
	switch syntax := CheckSyntax(r.text); {
	case syntax != nil && isNewer:
		return syntax
	case syntax != nil || isNewer || CheckDepth(r.text, r.within) != nil:
		return err
	}

	versions := NewReader(r.text, r.within)
	versions.Object(func(name string) {
		if name == "protocolVersion" {
			versions.Version()
		} else {
			versions.Value()
		}
	})

	if newer := versions.Err(); errors.Is(newer, ErrNewerVersion) {
		return newer
	}

	return err
}

// Refuse refuses the value, or the name of a member, that was read last, as ErrCorrupt.
func (r *Reader) Refuse(format string, args ...any) { r.Fail(ErrCorrupt, format, args...) }

// Had reports whether the object that has just ended has the member name.
func (r *Reader) Had(name string) bool {
	return slices.ContainsFunc(r.ended, func(m member) bool { return m.name == name })
}

// Require refuses the object that has just ended, unless it has all these members.
func (r *Reader) Require(names ...string) {
	for _, name := range names {
		if !r.Had(name) {
			r.FailMember(r.at, name, ErrCorrupt, "is missing")
		}
	}
}

// Version reads a protocolVersion.
func (r *Reader) Version() int {
	version := int(r.Int(1))
	if version > Version {
		r.Fail(ErrNewerVersion, "protocolVersion %d: this program understands %d: update it",
			version, Version)
	}
	return version
}

// Revision reads a number that grows by one with each edit or alert.
func (r *Reader) Revision() int64 {
	revision := r.Int(0)
	if revision > maxRevision {
		r.Refuse("a number of at most %d is expected", int64(maxRevision))
	}
	return revision
}

// StringOrNull reads a string, or null as "".
func (r *Reader) StringOrNull() string {
	if r.Null() {
		return ""
	}
	return r.String()
}

// ID reads an id.
func (r *Reader) ID() string {
	id := r.String()
	r.CheckID(id)
	return id
}

// IDOrNull reads an id, or null as "".
func (r *Reader) IDOrNull() string {
	if r.Null() {
		return ""
	}
	return r.ID()
}

// CheckID refuses id, which was read last, unless it is one.
func (r *Reader) CheckID(id string) {
	if err := CheckID(id); err != nil {
		r.Refuse("%v", err)
	}
}

// Time reads a time.
func (r *Reader) Time() time.Time {
	s := r.String()
	if s != r.lastTimeText || s == "" {
		t, err := ParseTime(s)
		if err != nil {
			r.Refuse("%v", err)
		}
		r.lastTimeText, r.lastTime = s, t
	}

	return r.lastTime
}

// TimeOrNull reads a time, or null as the zero time.
func (r *Reader) TimeOrNull() time.Time {
	if r.Null() {
		return time.Time{}
	}
	return r.Time()
}

// IntOrNull reads an integer of at least 0, or null as 0.
func (r *Reader) IntOrNull() int64 {
	if r.Null() {
		return 0
	}
	return r.Int(0)
}

// Milliseconds reads a duration of at least least milliseconds.
func (r *Reader) Milliseconds(least int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	n := r.Int(least)
	if n > most {
		r.Refuse("a duration of at most %d ms is expected", most)
	}
	return time.Duration(n) * time.Millisecond
}

// Key reads the key of an object that is repeated inside it.
func (r *Reader) Key(key string) {
	if id := r.String(); id != key {
		r.Refuse("supervisorId %.40q differs from its key", id)
	}
}
