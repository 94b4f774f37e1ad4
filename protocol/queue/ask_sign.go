package queue

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Shown is all that a person must see of a question before answering it, and what makes it this
// question (spec §47.2).
type Shown struct {
	Queue, ID, Nonce string
	AskedAt          time.Time
	Kind             AskKind
	By, User         string // who has asked first
	Scope, Key       string
	Spec             string // its hash
}

// Shown returns what is shown of t, an open question of a queue.
func (t *Task) Shown(queueID string) Shown {
	return Shown{Queue: queueID, ID: t.ID, Nonce: t.Ask.Nonce, AskedAt: t.EnqueuedAt, Kind: t.Ask.Kind,
		By: t.Ask.By, User: t.Ask.User, Scope: t.Ask.Scope, Key: t.Key, Spec: t.SpecHash()}
}

// Shown returns what a person was shown of the question that has ended as e, if that is signed.
func (e Ended) Shown(queueID string) Shown {
	d := e.Decision
	s := d.Signature
	return Shown{Queue: queueID, ID: e.ID, Nonce: s.Nonce, AskedAt: s.AskedAt, Kind: d.Kind, By: d.AskedBy,
		User: s.User, Scope: s.Scope, Key: s.Key, Spec: e.Spec}
}

// Hash returns the hash of s, which an answer names.
func (s Shown) Hash() string {
	return wire.Hash("dpl question 2\n" +
		lines(s.Queue, s.ID, s.Nonce, wire.FormatTime(s.AskedAt), string(s.Kind)) +
		quoted(s.By) + " " + quoted(s.User) + "\n" + lines(s.Scope, s.Key, s.Spec))
}

// SignedText returns what is signed of an answer (spec §47.5): the hash of the question that was
// shown, what was said, and when.
func SignedText(shown string, end TaskEnd, answer string, at time.Time) string {
	return "dpl answer 2\n" + lines(shown, string(end), answer, wire.FormatTime(at))
}

// lines returns texts as JSON strings, each on a line; "" is a dash.
func lines(texts ...string) string {
	var out strings.Builder
	for _, text := range texts {
		out.WriteString(quoted(text) + "\n")
	}
	return out.String()
}

func quoted(text string) string {
	if text == "" {
		return "-"
	}
	return string(wire.AppendQuote(nil, text))
}

// A Signature is what who has answered has signed, in the form of ssh-keygen, and what the text
// that was signed says of the question. The zero Signature is none.
type Signature struct {
	At      time.Time // when it was signed
	Text    string
	Nonce   string // of the question, as what follows
	AskedAt time.Time
	User    string // of who has asked
	Scope   string
	Key     string
}

// Fits reports whether s can have been made when it says: after the question was asked, and before
// latest, such as when it was decided. Clocks may differ by a minute.
func (s Signature) Fits(asked, latest time.Time) bool {
	const apart = time.Minute
	return !s.At.Before(asked.Add(-apart)) && !s.At.After(latest.Add(apart))
}

// member is the member signature, which is not written if s is zero. Its unknown members are among
// nested.
func (s *Signature) member(c *wire.Codec, nested **wire.Nested) {
	c.Object("signature", func(c *wire.Codec) {
		c.Nested(nested, "signature", s.members, "at", "text", "nonce", "askedAt")
	}, wire.If(*s != Signature{}))
}

func (s *Signature) members(c *wire.Codec) {
	c.Time("at", &s.At, wire.Always)
	c.String("text", &s.Text, wire.Always)
	c.Text("nonce", &s.Nonce, readNonce, wire.Always)
	c.Time("askedAt", &s.AskedAt, wire.Always)
	c.String("user", &s.User, wire.IfSet)
	c.String("scope", &s.Scope, wire.IfSet)
	c.String("key", &s.Key, wire.IfSet)
}
