package queue

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// timerShape and queueShape describe a queue file a second time.
var (
	timerShape = vectors.Object("at forMs", map[string]*vectors.Shape{"beat": vectors.BeatShape})
	queueShape = vectors.Object("$schema protocolVersion queueId revision permits closed removed lastSeq "+
		"lastEpoch deadSinceResume failuresInRow", map[string]*vectors.Shape{
		"policy": vectors.Object("slots maxAttempts backoffMs onDeadDependency haltOn depth "+
			"ageAfterMs rememberForMs", nil),
		"goal":  vectors.Object("description completed", nil),
		"halts": {Each: vectors.Object("by reason details at automatic alerted", nil)},
		"counters": vectors.Object("enqueued claimed done dead cancelled expired allowed denied "+
			"answered timedOut withdrawn ends firstClaims waitedMs longestWaitMs ranMs longestRunMs", nil),
		"tasks": {Key: "taskId", Each: vectors.Object("taskId seq state priority spec key group "+
			"after enqueuedAt traceparent maxAttempts notBefore attempts tries charged lastEpoch lastEnd "+
			"lastStatus lastReason lastJudged lastBy lastAt lastRanMs sameError reason question alerted",
			map[string]*vectors.Shape{
				"delay": timerShape, "expiry": timerShape,
				"claim": vectors.Object("epoch at participant pid operation call deadlineMs stop "+
					"stopReason", map[string]*vectors.Shape{
					"beat": vectors.BeatShape, "process": vectors.ProcessShape,
					"keeper": vectors.ProcessShape,
					"intent": vectors.Object("end status reason question delayMs", nil),
				}),
				"ask": vectors.Object("kind text", map[string]*vectors.Shape{"askers": {Each: askerShape}}),
			})},
		"ended": {Each: vectors.Object("taskId end spec lastEpoch lastEnd lastStatus lastReason "+
			"lastJudged lastBy lastAt lastRanMs at", map[string]*vectors.Shape{
			"decision": vectors.Object("kind text askedBy operation by user answer self",
				map[string]*vectors.Shape{"rule": vectors.Object("file hash number", nil)}),
		})},
	})
	askerShape = vectors.Object("at participant user pid operation call queue task epoch",
		map[string]*vectors.Shape{"beat": vectors.BeatShape, "process": vectors.ProcessShape,
			"waiter": vectors.ProcessShape})
)

// texts returns the queues of all vectors.
func texts(tb testing.TB) (all []string) {
	for _, file := range vectors.Files(tb, "../..", "queues", 100) {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var v struct {
			Given, Then json.RawMessage
			GivenText   string
		}
		if err := json.Unmarshal(data, &v); err != nil {
			tb.Fatal(err)
		}
		all = append(all, string(v.Given), string(v.Then), v.GivenText)
	}
	return all
}

// FuzzDecode: what is read is JSON, and is written so that it is read again as the same, with all
// that nobody knows of it.
func FuzzDecode(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}

	f.Fuzz(func(t *testing.T, text string) {
		q, err := Decode(text)
		if err != nil {
			if e, isDecode := errors.AsType[*wire.Error](err); !isDecode ||
				!errors.Is(e, wire.ErrCorrupt) && !errors.Is(e, wire.ErrNewerVersion) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("it is no JSON: %q", text)
		}

		written := q.Encode()
		again, err := Decode(written)
		if err != nil {
			t.Fatalf("what is written is refused: %v\n%s", err, written)
		}
		if again.Encode() != written || canonical(again) != canonical(q) {
			t.Fatalf("got:\n%s\nwant:\n%s", again.Encode(), written)
		}
		vectors.CheckKeeps(t, text, written, queueShape)
		vectors.CheckKeeps(t, text, canonical(q), queueShape)
	})
}
