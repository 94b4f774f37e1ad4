package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// A sample is a record with members of most kinds.
type sample struct {
	ID      string
	Word    sampleWord
	At      time.Time
	Count   int
	Long    time.Duration
	Texts   []string
	Inner   *sample
	Others  []sample
	Both    int // set when text is read
	Unknown []Member
}

type sampleWord string

func (w sampleWord) valid() bool { return w == "on" || w == "off" }

func (s *sample) record(c *Codec) {
	c.Record(&s.Unknown, s.members, "id")
}

func (s *sample) members(c *Codec) {
	if c.ID("id", &s.ID, Always) && s.ID == "bad" {
		c.Refuse("not this one")
	}
	Word(c, "word", &s.Word, "word", sampleWord.valid, IfSet)
	c.TimeOrNull("at", &s.At, IfSet)
	c.Int("count", &s.Count, 0, If(s.Count != 7))
	c.Milliseconds("longMs", &s.Long, 1, IfSet)
	if c.Strings("texts", &s.Texts, IfSet) {
		s.Both++
	}
	Pointer(c, "inner", &s.Inner, (*sample).record)
	Objects(c, "others", &s.Others, (*sample).record, IfSet)
}

const sampleText = `{"id":"a","word":"on","at":"2026-01-20T10:30:00.000Z","count":0,"longMs":5,` +
	`"texts":["x","y"],"inner":{"id":"b","count":3},"others":[` +
	`{"id":"c","count":1,"inner":{"id":"e","count":4},"u":{"v":[1]}},` +
	`{"id":"d","count":2,"inner":{"id":"f","count":5},"u":{"v":[1]}},` +
	`{"id":"g","count":2,"inner":{"id":"h","count":5},"u":{"v":[1]},"x":1}],"w":null}`

// A record is written as it was read, whatever the order of its members in the text.
func TestCodecReadsInAnyOrder(t *testing.T) {
	t.Parallel()
	var members []Member
	r := NewReader(sampleText, 0)
	r.Object(func(name string) { members = append(members, Member{name, r.Value()}) })

	for range len(members) {
		members = append(members[1:], members[0])
		for _, all := range [][]Member{members, backward(members)} {
			text := Line(func(w *Writer) {
				for _, m := range all {
					w.Raw(m.Name, m.Value)
				}
			})
			s, err := DecodeRecord(text, (*sample).record)
			if got := Line(Record(s.record)); err != nil || got != sampleText {
				t.Errorf("%s:\ngot %s, %v", text, got, err)
			}
			if s.Both != 1 {
				t.Errorf("%s: what belongs to a member ran %d times", text, s.Both)
			}
		}
	}
}

func backward(members []Member) []Member {
	all := slices.Clone(members)
	slices.Reverse(all)
	return all
}

// What is wrong with a member comes before what is wrong behind it, and the path names the member.
func TestCodecRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"bad"}`:                        `/id: not this one`,
		`{"id":"bad","count":-1}`:             `/id: not this one`,
		`{"id":"bad" "count":1}`:              `/id: not this one`,
		`{"others":[{"id":"bad"}]}`:           `/others/0/id: not this one`,
		`{"inner":{"id":"bad"},"id":"a"}`:     `/inner/id: not this one`,
		`{"id":"a","inner":{"count":1}}`:      `/inner/id: is missing`,
		`{"id":"a","inner":3}`:                `/inner: an object is expected`,
		`{"id":"a","others":[{"id":"x"},{}]}`: `/others/1/id: is missing`,
		`{"id":"a","word":"up"}`:              `/word: unknown word "up"`,
		`{"id":"a","longMs":0}`: `/longMs: an integer of at least 1 is expected, ` +
			`not 0`,
	} {
		_, err := DecodeRecord(text, (*sample).record)
		if err == nil || err.Error() != want || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}

	for _, text := range []string{`{"id":"a","id":"b"}`, `{"id":"a","u":1,"u":2}`,
		`{"id":"a","inner":{"id":"b","id":"b"}}`} {
		_, err := DecodeRecord(text, (*sample).record)
		if err == nil || !strings.Contains(err.Error(), "duplicate") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A part says whether it has read something, also if that was the last member.
func TestCodecPart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`{"a":1,"b":2}`: true, `{"b":2}`: true,
		`{"b":2,"a":1}`: true, `{"a":1}`: false, `{"c":{"b":1}}`: false} {
		a, b, read := 0, 0, false
		c := NewReader(text, 0).Codec()
		c.Known(func(c *Codec) {
			c.Int("a", &a, 0, Always)
			read = c.Part(func(c *Codec) { c.Int("b", &b, 0, Always) }) || read
		})
		if read != want {
			t.Errorf("%s: %v", text, read)
		}
	}
}
