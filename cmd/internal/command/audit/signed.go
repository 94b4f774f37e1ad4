package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// signatures checks what people have signed in the record of a queue (spec §47.5).
type signatures struct {
	ledger   *fileops.Ledger
	queue    string
	signers  string          // path of a file
	verifier string          // path of ssh-keygen
	seen     map[string]bool // what was checked: a line that has the whole queue repeats it
	known    []signedYes
	wrong    []audit.Finding
}

// A signedYes is a yes whose signature counts.
type signedYes struct {
	seq    int64 // of the line
	ended  queue.Ended
	signer string
	spec   *queue.AskSpec // what was signed; nil: it is not in notes/
}

// line checks what l adds. What rules have decided needs no signature, and a no neither.
func (s *signatures) line(l audit.Line) {
	for _, e := range queue.EndedIn(l) {
		d := e.Decision
		text := queue.Remembered{Ended: e}.Line()
		if d != nil && d.Rule.Number != 0 || !e.End.Yes() || s.seen[text] {
			continue
		}
		s.seen[text] = true
		signer, err := s.check(e)
		if err != nil {
			s.wrong = append(s.wrong, audit.Finding{Seq: l.Seq, How: audit.Unsigned,
				Text: fmt.Sprintf("%s: %s%s: %v", e.ID, e.End, d.Decider(), err)})
			continue
		}
		s.known = append(s.known, signedYes{l.Seq, e, signer, s.spec(e.Spec)})
	}
}

// spec returns the spec of a question that has that hash, or nil if it is not in notes/. The text
// of the decision is not what was signed.
func (s *signatures) spec(hash string) *queue.AskSpec {
	content, err := s.ledger.ReadNote(audit.Note{Hash: hash})
	if err != nil {
		return nil
	}
	asked, err := queue.DecodeAskSpec(queue.Content(content))
	if err != nil {
		return nil
	}
	return &asked
}

// check returns who has signed e. The signature is of the question as the decision describes it, and
// counts if the key was one of the signers when it was made.
func (s *signatures) check(e queue.Ended) (signer string, err error) {
	if e.Decision == nil {
		return "", errors.New("nobody has decided it")
	}
	signature := e.Decision.Signature
	if signature.Text == "" {
		return "", errors.New("it has no signature")
	}
	shown := e.Shown(s.queue).Hash()
	if shown != e.Decision.Shown {
		return "", errors.New("another question was shown")
	}
	if !signature.Fits(signature.AskedAt, e.At) {
		return "", fmt.Errorf("its signature is of %s, before it was asked, or after it was decided",
			wire.FormatTime(signature.At))
	}
	names, err := signing.Verify(s.verifier, s.signers, queue.SignedText(shown, e.End, e.Decision.Answer,
		signature.At), signature.Text, signature.At)
	return signing.Signer(names, signature.Text), err
}

// signatures returns what checks signatures, or nil if none are to be checked.
func (c *auditor) signatures(l *fileops.Ledger) (*signatures, error) {
	if c.Signers == "" {
		return nil, nil
	}
	verifier, err := signing.Verifier()
	var info fs.FileInfo
	if err == nil { // ssh-keygen would only say of each signature that it does not count
		info, err = os.Stat(string(c.Signers))
	}
	if err != nil {
		return nil, fmt.Errorf("--signers: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, cli.Usagef("--signers %s: it is read for each signature: give a regular file", c.Signers)
	}
	return &signatures{ledger: l, queue: c.Object.name(), signers: string(c.Signers),
		verifier: verifier, seen: make(map[string]bool)}, nil
}

// draw returns y for people, with all of what was signed.
func (y signedYes) draw(style table.Style) (string, error) {
	d := y.ended.Decision
	head := fmt.Sprintf("line %d: %s: %s, signed by %s on %s:", y.seq, y.ended.ID, y.ended.End,
		y.signer, wire.FormatTime(d.Signature.At))
	if y.spec == nil {
		return harmless.Text(head+" a text that is not in notes/: "+y.ended.Spec) + "\n", nil
	}
	text, err := style.Spec(*y.spec)
	if d.Answer != "" {
		text += "answer:\n" + style.Quote(d.Answer)
	}
	return harmless.Text(head) + "\n" + text, err
}

func (y signedYes) object() cli.Object {
	var text, input any
	choices := []string{}
	if y.spec != nil {
		text, choices = y.spec.Text, append(choices, y.spec.Choices...)
		if y.spec.Input != "" {
			input = jsontext.Value(y.spec.Input)
		}
	}
	d := y.ended.Decision
	return cli.Object{{"seq", y.seq}, {"questionId", y.ended.ID}, {"end", y.ended.End},
		{"signer", y.signer}, {"signedAt", wire.FormatTime(d.Signature.At)}, {"spec", y.ended.Spec},
		{"noted", y.spec != nil}, {"text", text}, {"input", input}, {"choices", choices},
		{"answer", cli.OrNull(d.Answer)}}
}
