package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// The spec of a question is read as it was written, with members that nobody knows.
func TestAskSpec(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"text":"why?"}`,
		`{"text":"run it?","input":{"tool":"Bash","argv":["ls"]}}`,
		`{"text":"which?","choices":["a","b"],"header":"db"}`,
	} {
		s, err := DecodeAskSpec(Content(text))
		if err != nil || string(s.Content()) != text {
			t.Errorf("%s: got %s, %v", text, s.Content(), err)
		}
	}

	for _, text := range []string{"", "[]", `{"text":1}`, `{"input":"x"}`, `{"choices":"a"}`, `{"a":1,"a":2}`} {
		if s, err := DecodeAskSpec(Content(text)); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: got %v, %v", text, s, err)
		}
	}
	if got, err := CompactObject(" { \"a\" : [ 1 ] }\n"); got != `{"a":[1]}` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := CompactObject("[]"); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("got %s, %v", got, err)
	}
}

// What is signed names the question by its hash, the answer, and the time, in these bytes (spec
// §47.5).
func TestSignedText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 20, 10, 29, 0, 5e6, time.UTC)
	got := SignedText("sha256:00", EndedDenied, "no \"way\"\n", at)
	const want = "dpl answer 2\n\"sha256:00\"\n\"denied\"\n\"no \\\"way\\\"\\n\"\n" +
		"\"2026-01-20T10:29:00.005Z\"\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A decision is kept with its signature and with members that nobody knows.
func TestSignatureKept(t *testing.T) {
	t.Parallel()
	const text = `{"queueId":"ask","policy":{"maxAttempts":4,"rememberForMs":1},"tasks":[],"ended":[` +
		`{"taskId":"qabcdefghij","end":"allowed","spec":"sha256:` +
		`922365f6af60df8a20e6bd685edad578c1c616e74131a685049ee74357c7ab64",` +
		`"at":"2026-01-20T10:29:00.000Z","decision":{"kind":"permission","askedBy":"a",` +
		`"signature":{"at":"2026-01-20T10:28:59.000Z","text":"s","nonce":"00112233445566778899aabbccddeeff",` +
		`"askedAt":"2026-01-20T10:28:00.000Z","x":1}}}]}`
	q, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Ended[0].source = nil // it is written anew
	again, err := Decode(q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Ended[0].Decision.Signature, q.Ended[0].Decision.Signature; got != want ||
		len(again.Ended[0].Decision.nested.Of("signature")) != 1 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
