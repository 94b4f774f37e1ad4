package wire

import "time"

// The methods for members are short, so that the compiler puts their comparison where they are
// called: most members of most objects are not there.

// String is a string.
func (c *Codec) String(name string, s *string, when When) bool {
	return (c.name == name || c.w != nil) && c.string(name, s, when)
}

func (c *Codec) string(name string, s *string, when When) bool {
	if c.w == nil {
		*s = c.r.String()
		return c.done()
	}
	if when.writes(*s != "") {
		c.w.String(name, *s)
	}
	return false
}

// ID is an id.
func (c *Codec) ID(name string, id *string, when When) bool {
	return (c.name == name || c.w != nil) && c.text(name, id, (*Reader).ID, when)
}

// Text is a string that read reads.
func (c *Codec) Text(name string, s *string, read func(*Reader) string, when When) bool {
	return (c.name == name || c.w != nil) && c.text(name, s, read, when)
}

func (c *Codec) text(name string, s *string, read func(*Reader) string, when When) bool {
	if c.w == nil {
		*s = read(c.r)
		return c.done()
	}
	if when.writes(*s != "") {
		c.w.String(name, *s)
	}
	return false
}

// Time is a time.
func (c *Codec) Time(name string, t *time.Time, when When) bool {
	return (c.name == name || c.w != nil) && c.time(name, t, (*Reader).Time, when)
}

// TimeOrNull is a time, for which null means the zero time.
func (c *Codec) TimeOrNull(name string, t *time.Time, when When) bool {
	return (c.name == name || c.w != nil) && c.time(name, t, (*Reader).TimeOrNull, when)
}

func (c *Codec) time(name string, t *time.Time, read func(*Reader) time.Time, when When) bool {
	if c.w == nil {
		*t = read(c.r)
		return c.done()
	}
	if when.writes(!t.IsZero()) {
		c.w.Time(name, *t)
	}
	return false
}

// Int is an integer of at least least.
func (c *Codec) Int(name string, n *int, least int64, when When) bool {
	return (c.name == name || c.w != nil) && c.int(name, n, least, when)
}

func (c *Codec) int(name string, n *int, least int64, when When) bool {
	if c.w == nil {
		*n = int(c.r.Int(least))
		return c.done()
	}
	if when.writes(*n != 0) {
		c.w.Int(name, int64(*n))
	}
	return false
}

// Int64 is an integer of at least least.
func (c *Codec) Int64(name string, n *int64, least int64, when When) bool {
	return (c.name == name || c.w != nil) && c.int64(name, n, least, when)
}

func (c *Codec) int64(name string, n *int64, least int64, when When) bool {
	if c.w == nil {
		*n = c.r.Int(least)
		return c.done()
	}
	if when.writes(*n != 0) {
		c.w.Int(name, *n)
	}
	return false
}

// IntOrNull is an integer of at least 0, for which null means 0.
func (c *Codec) IntOrNull(name string, n *int, when When) bool {
	return (c.name == name || c.w != nil) && c.intOrNull(name, n, when)
}

func (c *Codec) intOrNull(name string, n *int, when When) bool {
	if c.w == nil {
		*n = int(c.r.IntOrNull())
		return c.done()
	}
	if when.writes(*n != 0) {
		c.w.Int(name, int64(*n))
	}
	return false
}

// Revision is a number that grows by one with each edit or alert.
func (c *Codec) Revision(name string, n *int64, when When) bool {
	return (c.name == name || c.w != nil) && c.revision(name, n, when)
}

func (c *Codec) revision(name string, n *int64, when When) bool {
	if c.w == nil {
		*n = c.r.Revision()
		return c.done()
	}
	if when.writes(*n != 0) {
		c.w.Int(name, *n)
	}
	return false
}

// Milliseconds is a duration of at least least milliseconds.
func (c *Codec) Milliseconds(name string, d *time.Duration, least int64, when When) bool {
	return (c.name == name || c.w != nil) && c.milliseconds(name, d, least, when)
}

func (c *Codec) milliseconds(name string, d *time.Duration, least int64, when When) bool {
	if c.w == nil {
		*d = c.r.Milliseconds(least)
		return c.done()
	}
	if when.writes(d.Milliseconds() != 0) {
		c.w.Milliseconds(name, *d)
	}
	return false
}

// Bool is true or false.
func (c *Codec) Bool(name string, b *bool, when When) bool {
	return (c.name == name || c.w != nil) && c.bool(name, b, when)
}

func (c *Codec) bool(name string, b *bool, when When) bool {
	if c.w == nil {
		*b = c.r.Bool()
		return c.done()
	}
	if when.writes(*b) {
		c.w.Bool(name, *b)
	}
	return false
}

// Strings is an array of strings.
func (c *Codec) Strings(name string, all *[]string, when When) bool {
	return (c.name == name || c.w != nil) && c.texts(name, all, (*Reader).String, when)
}

// Texts is an array of strings that read reads.
func (c *Codec) Texts(name string, all *[]string, read func(*Reader) string, when When) bool {
	return (c.name == name || c.w != nil) && c.texts(name, all, read, when)
}

func (c *Codec) texts(name string, all *[]string, read func(*Reader) string, when When) bool {
	if c.w == nil {
		*all = nil
		c.r.Array(func() { *all = append(*all, read(c.r)) })
		return c.done()
	}
	if when.writes(len(*all) > 0) {
		c.w.Strings(name, *all)
	}
	return false
}

// Times is an array of times.
func (c *Codec) Times(name string, all *[]time.Time, when When) bool {
	return (c.name == name || c.w != nil) && c.times(name, all, when)
}

func (c *Codec) times(name string, all *[]time.Time, when When) bool {
	if c.w == nil {
		*all = nil
		c.r.Array(func() { *all = append(*all, c.r.Time()) })
		return c.done()
	}
	if when.writes(len(*all) > 0) {
		c.w.Times(name, *all)
	}
	return false
}

// AllMilliseconds is an array of durations.
func (c *Codec) AllMilliseconds(name string, all *[]time.Duration, when When) bool {
	return (c.name == name || c.w != nil) && c.allMilliseconds(name, all, when)
}

func (c *Codec) allMilliseconds(name string, all *[]time.Duration, when When) bool {
	if c.w == nil {
		*all = nil
		c.r.Array(func() { *all = append(*all, c.r.Milliseconds(0)) })
		return c.done()
	}
	if when.writes(len(*all) > 0) {
		c.w.AllMilliseconds(name, *all)
	}
	return false
}

// Raw is a value of which the text is kept, without white space, as read returns it.
func (c *Codec) Raw(name string, text *string, read func(*Reader) string, when When) bool {
	return (c.name == name || c.w != nil) && c.raw(name, text, read, when)
}

func (c *Codec) raw(name string, text *string, read func(*Reader) string, when When) bool {
	if c.w == nil {
		c.enter()
		*text = read(c.r)
		return c.done()
	}
	if when.writes(*text != "") {
		c.w.Raw(name, *text)
	}
	return false
}

// Word is a string that is valid, and is called what.
func Word[T ~string](c *Codec, name string, s *T, what string, valid func(T) bool, when When) bool {
	return (c.name == name || c.w != nil) && word(c, name, s, what, valid, when)
}

func word[T ~string](c *Codec, name string, s *T, what string, valid func(T) bool, when When) bool {
	if c.w == nil {
		if *s = T(c.r.String()); !valid(*s) {
			c.r.Refuse("unknown %s %.40q", what, string(*s))
		}
		return c.done()
	}
	if when.writes(*s != "") {
		c.w.String(name, string(*s))
	}
	return false
}

// Version is a protocolVersion.
func (c *Codec) Version(version *int) bool {
	const name = "protocolVersion"
	return (c.name == name || c.w != nil) && c.version(name, version)
}

func (c *Codec) version(name string, version *int) bool {
	if c.w == nil {
		*version = c.r.Version()
		return c.done()
	}
	c.w.Int(name, int64(*version))
	return false
}

// Key is the key of an object that is repeated inside it.
func (c *Codec) Key(name, key string) bool { return (c.name == name || c.w != nil) && c.key(name, key) }

func (c *Codec) key(name, key string) bool {
	if c.w == nil {
		c.r.Key(key)
		return c.done()
	}
	c.w.String(name, key)
	return false
}

// Own is a member that read reads, and write writes with its name if when is Always.
func (c *Codec) Own(name string, read func(*Reader), write func(*Writer), when When) bool {
	return (c.name == name || c.w != nil) && c.own(read, write, when)
}

func (c *Codec) own(read func(*Reader), write func(*Writer), when When) bool {
	if c.w == nil {
		c.enter()
		read(c.r)
		return c.done()
	}
	if when == Always {
		write(c.w)
	}
	return false
}

// Object is an object, of which record reads or writes the members. It is written if when is Always.
func (c *Codec) Object(name string, record func(*Codec), when When) bool {
	return (c.name == name || c.w != nil) && c.object(name, record, when)
}

func (c *Codec) object(name string, record func(*Codec), when When) bool {
	if c.w == nil {
		c.enter()
		record(c)
		return c.done()
	}
	if when == Always {
		c.w.name(name)
		c.w.open('{')
		record(c)
		c.w.close('}')
	}
	return false
}

// Pointer is an object, of which record reads or writes the members. Nil is not written.
func Pointer[T any](c *Codec, name string, p **T, record func(*T, *Codec)) bool {
	return (c.name == name || c.w != nil) && pointer(c, name, p, record)
}

func pointer[T any](c *Codec, name string, p **T, record func(*T, *Codec)) bool {
	if c.w == nil {
		*p = new(T)
	}
	return c.object(name, func(c *Codec) { record(*p, c) }, If(*p != nil))
}

// Objects is an array of objects, of which record reads or writes the members.
func Objects[T any](c *Codec, name string, all *[]T, record func(*T, *Codec), when When) bool {
	return (c.name == name || c.w != nil) && objects(c, name, all, record, when)
}

func objects[T any](c *Codec, name string, all *[]T, record func(*T, *Codec), when When) bool {
	if c.w == nil {
		*all = nil
		c.enter()
		c.r.Array(func() {
			var zero T
			if *all == nil {
				*all = make([]T, 0, 4)
			}
			*all = append(*all, zero)
			record(&(*all)[len(*all)-1], c)
		})
		return c.done()
	}
	if when.writes(len(*all) > 0) {
		c.w.Array(name, len(*all), func(i int) {
			c.w.open('{')
			record(&(*all)[i], c)
			c.w.close('}')
		})
	}
	return false
}
