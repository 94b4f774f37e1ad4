package protocol

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
	"github.com/go-json-experiment/json/jsontext"
)

// vector is one file of spec/vectors (spec §7).
type vector struct {
	Comment   string          `json:"comment"`
	Section   string          `json:"section"`
	Given     json.RawMessage `json:"given"`
	GivenText *string         `json:"givenText"`
	Seen      vectors.Seen    `json:"seen"`
	Do        struct {
		Verb                 string          `json:"verb"`
		Participant          string          `json:"participant"`
		Call                 string          `json:"call"`
		Caller               string          `json:"caller"`
		Traceparent          string          `json:"traceparent"`
		Calls                []string        `json:"calls"`
		PID                  int             `json:"pid"`
		Process              vectors.Process `json:"process"`
		Supervisor           string          `json:"supervisor"`
		Handle               string          `json:"handle"`
		Description          string          `json:"description"`
		Resources            []string        `json:"resources"`
		FailOnCrash          *bool           `json:"failOnCrash"`
		Heartbeats           bool            `json:"heartbeats"`
		OrphanPolicy         OrphanPolicy    `json:"orphanPolicy"`
		StalenessThresholdMs int64           `json:"stalenessThresholdMs"`
		HeartbeatIntervalMs  int64           `json:"heartbeatIntervalMs"`
		Cleaning             bool            `json:"cleaning"`
		Fail                 bool            `json:"fail"`
		Reason               string          `json:"reason"`
		KeepOpen             bool            `json:"keepOpen"`
		By                   string          `json:"by"`
		Run                  string          `json:"run"`
		NewRunID             string          `json:"newRunId"`
		StartID              string          `json:"startId"`
		FoundResources       []struct {
			Path string `json:"path"`
			File string `json:"file"`
		} `json:"foundResources"`
		Begin           bool   `json:"begin"`
		Status          *int   `json:"status"`
		Signal          string `json:"signal"`
		DeleteResources bool   `json:"deleteResources"`
		vectors.Saying  `json:",inline"`
		For             Goal  `json:"for"`
		Since           int64 `json:"since"`
	} `json:"do"`
	vectors.Observed `json:",inline"`
	Then             json.RawMessage `json:"then"`
	Unchanged        bool            `json:"unchanged"`
	Archived         bool            `json:"archived"`
	Refused          string          `json:"refused"`
	Path             *string         `json:"path"`
	Status           int             `json:"status"`
	Reported         []string        `json:"reported"`
	Released         []struct {
		CallID    string   `json:"callId"`
		Resources []string `json:"resources"`
	} `json:"released"`
	Remembered *vectors.Sightings `json:"remembered"`
	PassesOn   *string            `json:"passesOn"`
}

var refusals = map[string]error{
	"over": ErrOver, "corrupt": wire.ErrCorrupt, "noCall": ErrNoCall,
	"deadSupervisor": ErrDeadSupervisor, "knownCall": ErrKnownCall,
	"notRunning": ErrNotRunning, "otherNumbers": ErrOtherTiming,
	"otherProcess": observe.ErrOtherProcess,
	"notAborted":   ErrNotAborted, "notReady": observe.ErrNotReady,
	"notCrashed": ErrNotCrashed, "notSupervised": ErrNotSupervised,
	"newerVersion": wire.ErrNewerVersion,
	"exhausted":    wire.ErrExhausted,
	"running":      ErrRunning, "stopping": ErrStopping, "dead": ErrDeadCalls,
	"supervised": ErrSupervised,
}

func TestVectors(t *testing.T) {
	for _, file := range vectors.Files(t, "..", "", 60) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v vector
			vectors.Read(t, file, &v)
			if !strings.HasPrefix(filepath.Base(file), v.Do.Verb+"-") {
				t.Errorf("the name does not begin with the verb %s", v.Do.Verb)
			}
			v.run(t)
		})
	}
}

func (v *vector) run(t *testing.T) {
	var op Operation
	var err error
	given := string(v.Given)
	if v.GivenText != nil {
		given = *v.GivenText
	}

	if given == "null" || given == "" && v.GivenText == nil {
		created, _ := Decode(string(v.Then))
		op = Create(created.ID, v.Do.NewRunID, time.Duration(v.Do.HeartbeatIntervalMs)*time.Millisecond,
			time.Duration(v.Do.StalenessThresholdMs)*time.Millisecond)
	} else if op, err = Decode(given); err != nil {
		v.checkRefused(t, err)
		return
	}

	if vectors.Observes(v.Do.Verb) {
		outcome := op.Wait(v.Do.For, v.Do.Since)
		switch {
		case given == "null" && v.Do.For.MayBegin():
			outcome = observe.Pending
		case given == "null":
			if v.Refused != "noOperation" {
				t.Errorf("refused noOperation, want %q", v.Refused)
			}
			return
		case v.Do.For == "ready":
			outcome = op.WaitReady(v.Do.Call)
		}

		v.Check(t, v.Do.Verb, outcome, op.Lines(v.Do.Since))
		return
	}

	seen := v.Seen.Observation(t)
	vectors.Sight(&seen, op.Times)
	after, err := v.do(t, op, seen)
	if err == nil {
		v.Remembered.Check(t, seen, after.Times)
	}

	switch {
	case errors.Is(err, ErrExpired):
		if !v.Archived {
			t.Error("is to be archived")
		}
	case err != nil:
		v.checkRefused(t, err)
		if !reflect.DeepEqual(after, op) {
			t.Error("refused, but changed")
		}
	case v.Refused != "" || v.Archived:
		t.Errorf("neither refused nor archived; after:\n%s", after.Encode())
	case v.Unchanged:
		if after.Revision != op.Revision || after.Encode() != op.Encode() {
			t.Errorf("changed:\n%s", after.Encode())
		}
	case v.Do.Verb == "decode" && v.Then == nil:
	default:
		v.checkAfter(t, after)
	}
}

func (v *vector) checkAfter(t *testing.T, after Operation) {
	want, err := Decode(string(v.Then))
	if err != nil {
		t.Fatalf("then: %v", err)
	}
	if got, want := canonical(after), canonical(want); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if place := vectors.Lost(t, string(v.Then), after.Encode()); place != "" {
		t.Errorf("what is written has another value, or none, at %s:\n%s", place, after.Encode())
	}

	again, err := Decode(after.Encode())
	if err != nil {
		t.Fatalf("what was encoded cannot be decoded: %v", err)
	}
	if got, want := canonical(again), canonical(want); got != want {
		t.Errorf("decoded again:\n%s\nwant:\n%s", got, want)
	}

	if v.PassesOn != nil && after.PassesOn(v.Do.Call) != *v.PassesOn {
		t.Errorf("passes on %q, want %q", after.PassesOn(v.Do.Call), *v.PassesOn)
	}

	actor := Actor{Participant: v.Do.Participant, Call: v.Do.Call}
	if got := vectors.Status(after.Verdict(actor)); v.Do.Verb == "heartbeat" && got != v.Status {
		t.Errorf("status %d, want %d", got, v.Status)
	}

	var reported []string
	if v.Do.Verb == "heartbeat" {
		for _, f := range after.Reported(v.Do.Supervisor) {
			reported = append(reported, f.CallID)
		}
	}

	if !slices.Equal(reported, v.Reported) {
		t.Errorf("reported %q, want %q", reported, v.Reported)
	}

	var released []Release
	for _, r := range v.Released {
		released = append(released, Release{CallID: r.CallID, Resources: r.Resources})
	}

	got := slices.Clone(after.Effects().Released)
	for i := range got {
		got[i].Found = nil // the frame has it
	}
	if len(got)+len(released) > 0 &&
		!reflect.DeepEqual(got, released) {
		t.Errorf("released %q, want %q", got, released)
	}
}

// canonical returns the text of op with nothing copied from where it was decoded, laid out anew.
func canonical(op Operation) string {
	op.source = nil
	text := jsontext.Value(op.Encode())
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

func (v *vector) checkRefused(t *testing.T, err error) {
	want, ok := refusals[v.Refused]
	if !ok || !errors.Is(err, want) {
		t.Errorf("refused: %v, want %q", err, v.Refused)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && v.Path != nil && e.Path != *v.Path {
		t.Errorf("path %q, want %q", e.Path, *v.Path)
	}
}

func (v *vector) do(t *testing.T, op Operation, seen observe.Observation) (Operation, error) {
	process := observe.Process(v.Do.Process)
	actor := Actor{
		Participant: v.Do.Participant, Call: v.Do.Call, Run: v.Do.Run, Supervisor: v.Do.Supervisor,
		PID: v.Do.PID, Process: process,
		Heartbeats: v.Do.Heartbeats,
	}

	exit := observe.Exit{Known: v.Do.Status != nil || v.Do.Signal != "", Signal: v.Do.Signal}
	if v.Do.Status != nil {
		exit.Status = *v.Do.Status
	}
	var found []FoundResource
	for _, f := range v.Do.FoundResources {
		found = append(found, FoundResource{Path: f.Path, File: f.File})
	}

	switch v.Do.Verb {
	case "decode":
		return op, nil
	case "push":
		return op.Push(Push{
			Participant: v.Do.Participant, Call: v.Do.Call, Caller: v.Do.Caller, Traceparent: v.Do.Traceparent,
			PID: v.Do.PID, Process: process, Supervisor: v.Do.Supervisor,
			Handle: v.Do.Handle, Description: v.Do.Description, Readiness: v.Do.Readiness,
			Resources: v.Do.Resources, Found: found, Run: v.Do.Run, StartID: v.Do.StartID,
			Begin:     v.Do.Begin,
			Contained: v.Do.FailOnCrash != nil && !*v.Do.FailOnCrash, Heartbeats: v.Do.Heartbeats,
			OrphanPolicy: v.Do.OrphanPolicy,
			Interval:     time.Duration(v.Do.HeartbeatIntervalMs) * time.Millisecond,
			Threshold:    time.Duration(v.Do.StalenessThresholdMs) * time.Millisecond,
		}, seen)
	case "heartbeat":
		return op.Heartbeat(actor, v.Do.Report(v.Do.Cleaning), seen)
	case "pop":
		return op.Pop(Pop{Call: v.Do.Call, Run: v.Do.Run, Fail: v.Do.Fail, Reason: v.Do.Reason,
			Exit: exit, KeepOpen: v.Do.KeepOpen, DeleteResources: v.Do.DeleteResources}, seen)
	case "fail":
		return op.Fail(Failing{Call: v.Do.Call, By: v.Do.By, Run: v.Do.Run, Exit: exit,
			Reason: v.Do.Reason}, seen)
	case "abort":
		return op.Abort(v.Do.By, v.Do.Reason, v.Do.Run, seen)
	case "cleanup":
		return op.Cleanup(v.Do.By, seen)
	case "ack":
		return op.Ack(actor, v.Do.Calls, seen)
	case "claim":
		after, _, err := op.Claim(actor, seen)
		return after, err
	case "unclaim":
		return op.Unclaim(v.Do.Supervisor, v.Do.Calls, seen)
	}

	t.Fatalf("unknown verb %q", v.Do.Verb)
	return op, nil
}
