package protocol

import (
	"errors"
	"math"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// source is the text an operation was decoded from, so that Encode can copy what did not change.
type source struct {
	text        string
	supervisors []Supervisor
	transitions []Transition
	events      []Event
	// text of the whole value of these members; "" if absent
	supervisorsText, transitionsText, eventsText string
}

// Decode returns the operation in text, the content of an operation file (spec §1.3, §3). Missing
// members get their defaults. The error is a *DecodeError: ErrCorrupt, or ErrNewerVersion for a
// protocolVersion above Version.
func Decode(text string) (Operation, error) { return decodeWhole(text, 0, (*decoder).operation) }

// decodeWhole returns the result of read on text, which must have nothing after it. within is the
// number of objects around text in its file.
func decodeWhole[T any](text string, within int, read func(*decoder) T) (T, error) {
	var zero T
	if len(text) > math.MaxInt32 {
		return zero, &DecodeError{Cause: "the file is larger than 2 GiB", Is: ErrCorrupt}
	}

	d := newDecoder(text, within)
	value := read(d)
	d.End()
	if d.Failed() {
		return zero, refusal(d, text, within)
	}
	return value, nil
}

// refusal returns the reason why d refuses text: first that it is nested too deep or not JSON, then
// its protocolVersion, because a newer version may allow what is refused.
func refusal(d *decoder, text string, within int) error {
	err := d.Err()
	isNewer := errors.Is(err, ErrNewerVersion)
	switch syntax := wire.CheckSyntax(text); {
	case syntax != nil && isNewer:
		return syntax
	case syntax != nil || isNewer || wire.CheckDepth(text, within) != nil:
		return err
	}

	versions := newDecoder(text, within)
	versions.Object(func(name string) {
		if name == "protocolVersion" {
			versions.version()
		} else {
			versions.Value()
		}
	})

	if newer := versions.Err(); errors.Is(newer, ErrNewerVersion) {
		return newer
	}

	return err
}

// decoder reads the values in the files of the protocol.
type decoder struct {
	*wire.Reader

	lastTimeText string // the times of a frame are often equal
	lastTime     time.Time
}

func newDecoder(text string, within int) *decoder {
	return &decoder{Reader: wire.NewReader(text, within)}
}

// fail refuses the value, or the name of a member, that was read last.
func (d *decoder) fail(format string, args ...any) { d.Fail(ErrCorrupt, format, args...) }

// require refuses an object that has ended without a required member.
func (d *decoder) require(name string, has bool) {
	if !has {
		d.FailMember(d.Offset(), name, ErrCorrupt, "is missing")
	}
}

// orNull reads a string, or null as "".
func (d *decoder) orNull() string {
	if d.Null() {
		return ""
	}
	return d.String()
}

func (d *decoder) id() string {
	s := d.String()
	d.checkID(s)
	return s
}

func (d *decoder) idOrNull() string {
	if d.Null() {
		return ""
	}
	return d.id()
}

func (d *decoder) checkID(s string) {
	if err := CheckID(s); err != nil {
		d.fail("%v", err)
	}
}

func (d *decoder) time() time.Time {
	s := d.String()
	if s != d.lastTimeText || s == "" {
		t, err := ParseTime(s)
		if err != nil {
			d.fail("%v", err)
		}
		d.lastTimeText, d.lastTime = s, t
	}

	return d.lastTime
}

func (d *decoder) timeOrNull() time.Time {
	if d.Null() {
		return time.Time{}
	}
	return d.time()
}

// intOrNull reads an integer of at least 0, or null as 0.
func (d *decoder) intOrNull() int64 {
	if d.Null() {
		return 0
	}
	return d.Int(0)
}

// milliseconds reads a duration of at least least milliseconds.
func (d *decoder) milliseconds(least int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	n := d.Int(least)
	if n > most {
		d.fail("a duration of at most %d ms is expected", most)
	}
	return time.Duration(n) * time.Millisecond
}

func (d *decoder) unknown(members *[]Member, name string) {
	*members = append(*members, Member{Name: name, Value: d.Value()})
}
