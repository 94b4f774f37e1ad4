package queue

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Signature is what who has answered has signed: the text of SignedText, in the form of
// ssh-keygen. The zero Signature is none.
type Signature struct {
	AskedAt time.Time // of the question, so that it is no answer to one that is asked again
	Text    string
}

// SignedText returns what is signed of an answer (spec §47.5): the question, when it was asked, its
// spec, and what was said.
func SignedText(queueID, id string, askedAt time.Time, spec string, end TaskEnd,
	answer string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "dpl answer\nqueue: %s\nquestion: %s\nasked: %s\nspec: %s\nend: %s\nanswer: ",
		queueID, id, wire.FormatTime(askedAt), spec, end)
	out.Write(wire.AppendQuote(nil, answer))
	out.WriteByte('\n')
	return out.String()
}

func readSignature(r *wire.Reader, nested **wire.Nested) (s Signature) {
	r.Object(func(name string) {
		switch name {
		case "askedAt":
			s.AskedAt = r.Time()
		case "text":
			s.Text = r.String()
		default:
			r.Nested(nested, "signature", name)
		}
	})
	r.Require("askedAt", "text")
	return s
}

func (s Signature) write(w *wire.Writer, nested *wire.Nested) {
	if s == (Signature{}) {
		return
	}
	w.Object("signature", func(w *wire.Writer) {
		w.Time("askedAt", s.AskedAt)
		w.String("text", s.Text)
		w.Unknown(nested.Of("signature"))
	})
}
