package wire

// A Codec reads or writes the members of records. A record has a method that names its members, in
// the order in which they are written:
//
//	func (s *Span) members(c *wire.Codec) {
//		c.ID("callId", &s.CallID, wire.Always)
//		c.Time("crashedAt", &s.CrashedAt, wire.IfSet)
//	}
//
// Record calls that method: once to write, and to read until no member of the object is left. Each
// call reads the members that come in the order of the method. A member that a whole call does not
// read is unknown. So the method may run several times for one object: whatever changes more than
// its own member is inside `if c.Time(…)`.
//
// Each method for a member returns whether it has just read it. Then Refuse may refuse it. A rule
// about several members, or about a missing one, is applied after Record.
type Codec struct {
	r *Reader // nil: it writes
	w *Writer // nil: it reads

	// While an object is read:
	cursor
	name    string // of the member whose value is next; "" at the end of the object
	more    bool   // whether there is a next member
	end     int    // the offset after the last value
	misread bool   // whether r has failed at the name after the last value, and not before
}

// A When says when a member is written.
type When uint8

const (
	never When = iota

	// IfSet means that a zero value, or an array without elements, is not written.
	IfSet
	Always
)

// If returns Always if is is true. Otherwise the member is not written.
func If(is bool) When {
	if is {
		return Always
	}
	return never
}

// writes reports whether a member is written, given whether it is set.
func (w When) writes(set bool) bool { return w == Always || w == IfSet && set }

// Codec returns the Codec that reads from r.
func (r *Reader) Codec() *Codec {
	r.codec.r = r
	return &r.codec
}

// Codec returns the Codec that writes to w.
func (w *Writer) Codec() *Codec {
	w.codec.w = w
	return &w.codec
}

// Record returns record for a Writer.
func Record(record func(*Codec)) func(*Writer) { return func(w *Writer) { record(w.Codec()) } }

// DecodeRecord is Decode of a record.
func DecodeRecord[T any](text string, record func(*T, *Codec)) (T, error) {
	return decode(text, 0, false, reading(record))
}

func reading[T any](record func(*T, *Codec)) func(*Reader) T {
	return func(r *Reader) (v T) {
		record(&v, r.Codec())
		return v
	}
}

// Reads reports whether c reads.
func (c *Codec) Reads() bool { return c.w == nil }

// Reader returns the Reader that c reads with.
func (c *Codec) Reader() *Reader { return c.r }

// Source returns the whole text that c reads.
func (c *Codec) Source() string { return c.r.text }

// More reports whether c reads, and has not yet read all members of the object.
func (c *Codec) More() bool { return c.more }

// At reports whether c reads and the member name is next, or c writes. Ask for it before anything
// that takes time.
func (c *Codec) At(name string) bool { return c.name == name || c.w != nil }

// Part calls members, and reports whether it has read any.
func (c *Codec) Part(members func(*Codec)) bool {
	i, more := c.i, c.more
	members(c)
	return c.i != i || c.more != more
}

// Record reads or writes the members of a record, and the unknown ones. It refuses an object that
// does not have all required members. It returns whether it has read them.
func (c *Codec) Record(unknown *[]Member, members func(*Codec), required ...string) bool {
	if c.w != nil {
		members(c)
		c.w.Unknown(*unknown)
		return false
	}
	c.read(members, func(name string) { c.r.Unknown(unknown, name) })
	c.r.Require(required...)
	return true
}

// Nested is Record for a record whose unknown members are among nested, as those of in.
func (c *Codec) Nested(nested **Nested, in string, members func(*Codec), required ...string) {
	if c.w != nil {
		members(c)
		c.w.Unknown((*nested).Of(in))
		return
	}
	c.read(members, func(name string) { c.r.Nested(nested, in, name) })
	c.r.Require(required...)
}

// Known is Record for a record whose unknown members are not kept.
func (c *Codec) Known(members func(*Codec), required ...string) bool {
	if c.w != nil {
		members(c)
		return false
	}
	c.read(members, func(string) { c.r.Value() })
	c.r.Require(required...)
	return true
}

// Only reads a record in which an unknown member is a mistake: ErrCorrupt.
func (c *Codec) Only(members func(*Codec), required ...string) {
	c.read(members, func(name string) { c.r.Refuse("unknown member %q", name) })
	c.r.Require(required...)
}

func (c *Codec) read(members func(*Codec), unknown func(name string)) {
	if !c.r.open('{', "an object") {
		return
	}

	outer := c.cursor
	c.cursor = cursor{layout: c.r.layout, asBefore: true}
	for c.done(); c.more; {
		if !c.Part(members) {
			c.enter()
			unknown(c.name)
			c.done()
		}
	}
	c.cursor, c.end, c.misread = outer, c.r.at, false
}

// done goes from the end of a value, or the beginning of an object, to the next member. It returns
// true.
func (c *Codec) done() bool {
	r := c.r
	c.end, c.misread = r.at, false
	if c.asBefore && c.i < len(c.layout.members) {
		// Most names are as before, so this does what Reader.next does, without a call.
		if m := &c.layout.members[c.i]; r.literal(m.lead) {
			r.space()
			c.name, c.more = m.name, true
			c.i++
			return true
		}
	}

	read := r.failure == nil
	if c.name, c.more = "", r.next(&c.cursor); c.more {
		c.name = c.layout.members[c.i-1].name
	}
	c.misread = read && r.failure != nil
	return true
}

// enter prepares the Reader for a value with objects in it.
func (c *Codec) enter() { c.r.layout = c.layout.inner(c.i - 1) }

// Refuse refuses the member, or the object, that was read last, as ErrCorrupt.
func (c *Codec) Refuse(format string, args ...any) {
	if c.misread { // the failure after the member would hide the one of the member
		c.r.failure, c.misread = nil, false
	}
	c.r.failAt(c.end, "", ErrCorrupt, format, args...)
	c.name, c.more = "", false
}

// Require refuses the object that has just ended, unless it has all these members.
func (c *Codec) Require(names ...string) { c.r.Require(names...) }

// FailMember refuses a member of the object that has just ended, as ErrCorrupt.
func (c *Codec) FailMember(name, format string, args ...any) {
	c.r.FailMember(c.r.at, name, ErrCorrupt, format, args...)
}

// Had reports whether the object that has just ended has the member name.
func (c *Codec) Had(name string) bool { return c.r.Had(name) }
