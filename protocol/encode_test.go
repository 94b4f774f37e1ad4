package protocol

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

func TestEncodeLayout(t *testing.T) {
	seen := observe.Observation{Now: time.Date(2026, 1, 20, 10, 30, 0, 123456789, time.UTC)}
	op, err := Create("build", "", 0, 0).Push(Push{Participant: "cli", Call: "main", PID: 7,
		Resources: []string{"/a\n"}}, seen)
	if err != nil {
		t.Fatal(err)
	}

	const want = `{
  "protocolVersion": 1,
  "operationId": "build",
  "revision": 1,
  "state": "running",
  "lastHeartbeat": "2026-01-20T10:30:00.123Z",
  "aborted": false,
  "heartbeatIntervalMs": 1500,
  "stalenessThresholdMs": 10000,
  "stack": [
    {
      "participantId": "cli",
      "callId": "main",
      "pid": 7,
      "startTime": "2026-01-20T10:30:00.123Z",
      "lastHeartbeat": "2026-01-20T10:30:00.123Z",
      "state": "active",
      "resources": [
        "/a\n"
      ]
    }
  ],
  "supervisorHeartbeats": {},
  "transitions": [],
  "events": [
    {
      "revision": 1,
      "at": "2026-01-20T10:30:00.123Z",
      "type": "callStarted",
      "callId": "main",
      "to": "active",
      "by": "cli"
    }
  ]
}
`
	if got := op.Encode(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// What an edit does not change keeps its text, whichever program wrote it, unless its layout
// differs.
func TestEncodeKeeps(t *testing.T) {
	frame := func(call, extra string) string {
		return `    {
      "callId": "` + call + `", "participantId": "p",
      "lastHeartbeat": "2026-01-20T11:30:00+01:00"` + extra + `
    }`
	}

	text := `{"operationId": "a", "state": "running", "lastHeartbeat": "2026-01-20T10:30:00Z", "x-number": 1.50e3,
  "stack": [
` + frame("one", "") + ",\n" + frame("two", `, "x": {"deep":[1.0,12345678901234567890123]}`) + `
  ]}`

	op, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}

	seen := observe.Observation{Now: time.Date(2026, 1, 20, 10, 30, 1, 0, time.UTC)}
	after, err := op.Heartbeat(Actor{Call: "two"}, observe.Report{}, seen)
	if err != nil {
		t.Fatal(err)
	}

	got := after.Encode()
	for _, want := range []string{
		frame("one", ""),
		`"lastHeartbeat": "2026-01-20T10:30:01.000Z"`,
		"      \"x\": {\n        \"deep\": [\n          1.0,\n          12345678901234567890123\n " +
			"       ]\n      }\n",
		`"x-number": 1.50e3`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}

	compact := strings.Join(strings.Fields(text), "")
	op, err = Decode(compact)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(op.Encode(), `{"`) {
		t.Errorf("not laid out:\n%s", op.Encode())
	}
}

// A frame that was changed, copied or moved by a user of this package is written as it is, not as
// it was decoded.
func TestEncodeNoticesOtherFrames(t *testing.T) {
	op, _ := chain(t, 3)
	op, err := Decode(op.Encode())
	if err != nil {
		t.Fatal(err)
	}

	changed := *op.Stack[1]
	changed.Description = "changed"
	op.Stack = []*Frame{op.Stack[2], &changed, op.Stack[0]}
	again, err := Decode(op.Encode())
	if err != nil {
		t.Fatal(err)
	}

	for i, want := range []string{"call-2", "call-1", "call-0"} {
		if got := again.Stack[i].CallID; got != want {
			t.Errorf("frame %d is %s, want %s", i, got, want)
		}
	}

	if again.Stack[1].Description != "changed" {
		t.Error("the change is lost")
	}
}

// full is a disk that has room for some bytes, and once it has refused one, for any number.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, len(p))
	f.room -= n
	if n < len(p) {
		f.room = math.MaxInt
		return n, errFull
	}
	return n, nil
}

// WriteTo returns how much was written, and the error of the disk wherever it comes: in what is
// new, or in what is copied.
func TestWriteToFull(t *testing.T) {
	op, seen := chain(t, 200)
	op, err := Decode(op.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if op, err = op.Heartbeat(Actor{Supervisor: "s"}, observe.Report{}, seen); err != nil {
		t.Fatal(err)
	}

	made, _ := chain(t, 200)
	for _, op := range []Operation{op, made} {
		size := len(op.Encode())
		for room := 0; room < size; room += 97 {
			if n, err := op.WriteTo(&full{room}); n != int64(room) || !errors.Is(err, errFull) {
				t.Fatalf("with room for %d bytes: %d, %v", room, n, err)
			}
		}

		if n, err := op.WriteTo(&full{size}); n != int64(size) || err != nil {
			t.Errorf("with room for all: %d, %v", n, err)
		}
	}
}

func TestSameSupervisorNoticesEveryField(t *testing.T) {
	vectors.CheckNoticesEveryField(t, sameSupervisor)
}
