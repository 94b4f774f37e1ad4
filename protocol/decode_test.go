package protocol

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
	"github.com/go-json-experiment/json/jsontext"
)

// texts returns the operations of all vectors, both as written there and as written by Encode.
func texts(tb testing.TB) []string {
	files, err := filepath.Glob("../spec/vectors/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no vectors: %v", err)
	}

	var all []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}

		var v struct{ Given, Then json.RawMessage }
		if err := json.Unmarshal(data, &v); err != nil {
			tb.Fatal(err)
		}

		for _, text := range []string{string(v.Given), string(v.Then)} {
			all = append(all, text)
			if op, err := Decode(text); err == nil {
				all = append(all, canonical(op))
			}
		}
	}

	return all
}

// checkDecode compares the decoder with the encoder, and with jsontext.
func checkDecode(t *testing.T, text string) {
	op, err := Decode(text)
	if err != nil {
		if e, isDecode := errors.AsType[*wire.Error](err); !isDecode ||
			!errors.Is(e, wire.ErrCorrupt) && !errors.Is(e, wire.ErrNewerVersion) {
			t.Fatalf("refused with %v", err)
		}
		return
	}

	if !jsontext.Value(text).IsValid() {
		t.Fatalf("it is no JSON, but read:\n%s", text)
	}

	encoded := op.Encode()
	again, err := Decode(encoded)
	if err != nil {
		t.Fatalf("what was encoded is refused: %v\n%s", err, encoded)
	}
	if canonical(again) != canonical(op) {
		t.Fatalf("changed by Encode:\n%s\nwas:\n%s", canonical(again), canonical(op))
	}

	vectors.CheckKeeps(t, text, encoded, vectors.OperationShape)
	vectors.CheckKeeps(t, text, canonical(op), vectors.OperationShape)
	checkEditKeeps(t, op, text)
}

// The layout of a file does not change its meaning.
func TestDecodeLayouts(t *testing.T) {
	op, _ := chain(t, 3)
	text := op.Encode()
	for name, written := range layouts(t, text) {
		read, err := Decode(written)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if canonical(read) != text {
			t.Errorf("%s: it is read as\n%s\nwant\n%s", name, canonical(read), text)
		}
	}
}

// A truncated file is refused, with a message that it ends too early, whether the encoder or
// another program wrote it.
func TestDecodeCutOff(t *testing.T) {
	op, _ := chain(t, 2)
	laidOut := op.Encode()
	for _, text := range []string{laidOut, strings.Join(strings.Fields(laidOut), " ")} {
		for i := range len(strings.TrimSpace(text)) {
			_, err := Decode(text[:i])
			e, ok := errors.AsType[*wire.Error](err)
			if want := "the file ends too early"; !ok || !errors.Is(err, wire.ErrCorrupt) ||
				e.Path != "" || i > 0 && e.Error() != want {
				t.Fatalf("%q: %v, want %s", text[:i], err, want)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ text, path, cause string }{
		{"{\"operationId\": \"a\xff\"}", "/operationId", "invalid UTF-8"},
		{"", "", "the file is empty"},
		{" \n", "", "the file is empty"},
		{`{"operationId": "a"`, "", "the file ends too early"},
		{`[]`, "", "an object is expected"},
		{`{"operationId": "a"} x`, "/state", "is missing"},
		{`{"operationId":"a","state":"running","lastHeartbeat":"2026-01-20T10:30:00Z","stack":[]} x`, "", "data after the end"},
		{`{"stack": [{"process": {"pid": 1, "pid": 2}}]}`, "/stack/0/process/pid", "duplicate"},
		{`{"x": {"a": [1, {"b": 1, "b": 2}]}}`, "/x/a/1/b", "duplicate"},
		{`{"stack": [{"callId": "a", "participantId": "b"}]}`, "/stack/0/lastHeartbeat",
			"is missing"},
		{`{"revision": 4611686018427387905}`, "/revision", "at most 4611686018427387904"},
		{`{"supervisorHeartbeats": {"../x": tru}}`, "/supervisorHeartbeats/..~1x", "bad id"},
		{`{"lastHeartbeat": "2026-01-20T10:30:00+1:00"}`, "/lastHeartbeat", "a time like"},
	} {
		_, err := Decode(c.text)
		e, ok := errors.AsType[*wire.Error](err)
		if !ok || e.Path != c.path || !strings.Contains(e.Cause, c.cause) {
			t.Errorf("%q: %v, want %s: %s", c.text, err, c.path, c.cause)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for i, text := range texts(f) {
		if !testing.Short() || i%5 == 0 {
			f.Add(text)
		}
	}
	op, _ := chain(f, 3)
	f.Add(op.Encode())
	f.Fuzz(checkDecode)
}

// A long run of calls that did not change is written as it was read, around the one that did.
func TestEncodeCopiesMuch(t *testing.T) {
	op, seen := chain(t, 200)
	text := op.Encode()
	read, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Encode(); got != text {
		t.Errorf("unchanged, it is %d bytes, not the same %d", len(got), len(text))
	}

	seen.Now = seen.Now.Add(time.Second)
	seen.MonotonicMs += 1000
	if read, err = read.Heartbeat(Actor{Call: "call-100"}, observe.Report{}, seen); err != nil {
		t.Fatal(err)
	}

	again, err := Decode(read.Encode())
	if err != nil || canonical(again) != canonical(read) {
		t.Errorf("after a heartbeat it is read otherwise: %v", err)
	}
}

// A message has only the beginning and the end of a long place or value.
func TestDecodeErrorIsShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, text := range []string{
		`{"` + long + `": {"x": 1, "x": 2}}`, `{"` + long + `": 1, "` + long + `": 2}`,
		`{"operationId": "` + long + `"}`,
	} {
		_, err := Decode(text)
		if err == nil || len(err.Error()) > 500 || !utf8.ValidString(err.Error()) {
			t.Errorf("%d bytes: %v", len(err.Error()), err)
		}
	}
}

// A time that is no string is refused as that, where it is.
func TestTimeThatIsNoString(t *testing.T) {
	t.Parallel()
	const text = `{"operationId": "op", "lastHeartbeat": 7}`
	_, err := Decode(text)
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || !errors.Is(err, wire.ErrCorrupt) || e.Path != "/lastHeartbeat" ||
		!strings.Contains(e.Cause, "a string is expected") {
		t.Errorf("got %v", err)
	}
}
