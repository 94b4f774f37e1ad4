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
)

// texts returns the operations of all vectors, as they are written there and as Encode lays them out.
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
			if op, err := decode(text); err == nil {
				all = append(all, canonical(op))
			}
		}
	}
	return all
}

// checkDecode holds the two decoders, and the encoder, against each other.
func checkDecode(t *testing.T, text string) {
	strict, err := decode(text)
	laidOut, ok := decodeLaidOut(text)
	if ok && err != nil {
		t.Fatalf("laid out, but the strict decoder refuses it: %v\n%s", err, text)
	}
	if err != nil {
		if e, isDecode := errors.AsType[*DecodeError](err); !isDecode || !errors.Is(e, ErrCorrupt) && !errors.Is(e, ErrNewerVersion) {
			t.Fatalf("refused with %v", err)
		}
		return
	}
	if ok && canonical(laidOut) != canonical(strict) {
		t.Fatalf("read by the line:\n%s\nstrictly:\n%s", canonical(laidOut), canonical(strict))
	}
	for _, op := range []Operation{strict, laidOut} {
		if op.ID == "" {
			continue
		}
		encoded := op.Encode()
		again, err := decode(encoded)
		if err != nil {
			t.Fatalf("what was encoded is refused: %v\n%s", err, encoded)
		}
		if canonical(again) != canonical(strict) {
			t.Fatalf("changed by Encode:\n%s\nwas:\n%s", canonical(again), canonical(strict))
		}
		checkKeeps(t, text, encoded, operationShape)
	}
	checkKeeps(t, text, canonical(strict), operationShape)
	checkEditKeeps(t, strict, text)
}

func TestDecodeLaidOut(t *testing.T) {
	fast := 0
	for _, text := range texts(t) {
		checkDecode(t, text)
		if _, ok := decodeLaidOut(text); ok {
			fast++
		}
	}
	if fast < 100 {
		t.Errorf("only %d texts were read by the line", fast)
	}
	op, _ := chain(t, 50)
	if _, ok := decodeLaidOut(op.Encode()); !ok {
		t.Error("what the commands write is not read by the line")
	}
}

// Texts that look as if they were laid out, and must not be taken for what they are not.
func TestDecodeLooksLaidOut(t *testing.T) {
	op, _ := chain(t, 2)
	good := op.Encode()
	for _, change := range [][2]string{
		{`"callId": "call-1"`, `"callId": "call-0"`},
		{`"callId": "call-1"`, `"callId": ""`},
		{`"callId": "call-1"`, `"callId": "a\u0062"`},
		{`"lastHeartbeat": "2026-01-20T10:30:00.000Z",` + "\n" + `      "state"`, `"lastHeartbeat": "",` + "\n" + `      "state"`},
		{`"startTime": "2026-01-20T10:30:00.000Z"`, `"startTime": ""`},
		{`"pid": 12345`, `"pid": 012345`},
		{`"pid": 12345`, `"pid": `},
		{`"pid": 12345`, `"pid": 99999999999999999999`},
		{`"state": "active"`, `"state": "asleep"`},
		{"\n    },\n", "\n    }\n"},
		{"\n    }\n  ],", "\n    },\n  ],"},
		{`"stack": [`, `"stuck": [`},
		{`"supervisorHeartbeats": {`, `"stack": [],` + "\n" + `  "supervisorHeartbeats": {`},
		{`"protocolVersion": 1,`, `"protocolVersion": 1,` + "\n" + `  "stack": [],`},
		{"  \"stack\": [", "  \"x\": {\n  \"stack\": ["},
		{`"events": [`, `"evens": [`},
		{"  \"events\": [", "  \"events\": [],\n  \"events\": ["},
		{"  \"events\": [", "  \"x\": [{\n  \"events\": ["},
		{"  \"events\": [", "  \"events\": 1,\n  \"x\": [\n    {}\n  ],\n  \"y\": ["},
		{`"type": "callStarted",` + "\n" + `      "callId": "call-0"`, `"type": "callStarted",` + "\n" + `      "callId": "../x"`},
		{`"to": "active"`, `"to": "active", "to": "active"`},
		{`"to": "active"`, `"to": "acti\u0076e"`},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if text == good {
			t.Errorf("%q does not occur", change[0])
		}
		checkDecode(t, text)
	}
}

// A frame on one line is left to the strict decoder, and what the line reader has seen of it is forgotten: its time is not
// taken for one that has been read.
func TestDecodeForgetsOtherLayouts(t *testing.T) {
	op, _ := chain(t, 3)
	const time = "2026-01-20T10:30:07.000Z"
	parts := strings.SplitAfter(op.Encode(), "\n    },\n    ")
	parts[1] = `{ "lastHeartbeat": "` + time + `", "participantId": "worker", "callId": "call-1"` + "\n    },\n    "
	parts[2] = strings.Replace(parts[2], `"startTime": "2026-01-20T10:30:00.000Z"`, `"startTime": "`+time+`"`, 1)
	text := strings.Join(parts, "")
	if _, ok := decodeLaidOut(text); !ok {
		t.Error("is not read by the line")
	}
	checkDecode(t, text)
}

// A file that was cut off anywhere is refused, and the refusal says that it ends too early: of a file laid out by the
// encoder, and of one that is not.
func TestDecodeCutOff(t *testing.T) {
	op, _ := chain(t, 2)
	laidOut := op.Encode()
	for _, text := range []string{laidOut, strings.Join(strings.Fields(laidOut), " ")} {
		for i := range len(strings.TrimSpace(text)) {
			_, err := Decode(text[:i])
			e, ok := errors.AsType[*DecodeError](err)
			if want := "the file ends too early"; !ok || !errors.Is(err, ErrCorrupt) || e.Path != "" || i > 0 && e.Error() != want {
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
		{`{"stack": [{"callId": "a", "participantId": "b"}]}`, "/stack/0/lastHeartbeat", "is missing"},
		{`{"revision": 4611686018427387905}`, "/revision", "at most 4611686018427387904"},
		{`{"lastHeartbeat": "2026-01-20T10:30:00+1:00"}`, "/lastHeartbeat", "a time like"},
	} {
		_, err := Decode(c.text)
		e, ok := errors.AsType[*DecodeError](err)
		if !ok || e.Path != c.path || !strings.Contains(e.Cause, c.cause) {
			t.Errorf("%q: %v, want %s: %s", c.text, err, c.path, c.cause)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
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
	if read, err = read.Heartbeat(Actor{Call: "call-100"}, Report{}, seen); err != nil {
		t.Fatal(err)
	}
	again, err := decode(read.Encode())
	if err != nil || canonical(again) != canonical(read) {
		t.Errorf("after a heartbeat it is read otherwise: %v", err)
	}
}

// A message has the beginning and the end of a place, or a value, that is longer than anybody reads.
func TestDecodeErrorIsShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, text := range []string{
		`{"` + long + `": {"x": 1, "x": 2}}`, `{"` + long + `": 1, "` + long + `": 2}`, `{"operationId": "` + long + `"}`,
	} {
		_, err := Decode(text)
		if err == nil || len(err.Error()) > 500 || !utf8.ValidString(err.Error()) {
			t.Errorf("%d bytes: %v", len(err.Error()), err)
		}
	}
}
