package protocol

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// vector is one file of spec/vectors (spec §7).
type vector struct {
	Comment   string          `json:"comment"`
	Section   string          `json:"section"`
	Given     json.RawMessage `json:"given"`
	GivenText *string         `json:"givenText"`
	Seen      vectorSeen      `json:"seen"`
	Do        struct {
		Verb                 string        `json:"verb"`
		Participant          string        `json:"participant"`
		Call                 string        `json:"call"`
		Caller               string        `json:"caller"`
		Calls                []string      `json:"calls"`
		PID                  int           `json:"pid"`
		Process              vectorProcess `json:"process"`
		Supervisor           string        `json:"supervisor"`
		Handle               string        `json:"handle"`
		Description          string        `json:"description"`
		Resources            []string      `json:"resources"`
		FailOnCrash          *bool         `json:"failOnCrash"`
		Heartbeats           bool          `json:"heartbeats"`
		OrphanPolicy         OrphanPolicy  `json:"orphanPolicy"`
		StalenessThresholdMs int64         `json:"stalenessThresholdMs"`
		HeartbeatIntervalMs  int64         `json:"heartbeatIntervalMs"`
		Cleaning             bool          `json:"cleaning"`
		Fail                 bool          `json:"fail"`
		Reason               string        `json:"reason"`
		KeepOpen             bool          `json:"keepOpen"`
		By                   string        `json:"by"`
		vectorSaying         `json:",inline"`
		vectorObserving      `json:",inline"`
	} `json:"do"`
	observed  `json:",inline"`
	Then      json.RawMessage `json:"then"`
	Unchanged bool            `json:"unchanged"`
	Archived  bool            `json:"archived"`
	Refused   string          `json:"refused"`
	Path      *string         `json:"path"`
	Status    int             `json:"status"`
	Reported  []string        `json:"reported"`
	Released  []struct {
		CallID    string   `json:"callId"`
		Resources []string `json:"resources"`
	} `json:"released"`
	Remembered *vectorSightings `json:"remembered"`
}

// vectorSaying is the arguments that a heartbeat, push or registration says of the actor.
type vectorSaying struct {
	Readiness Readiness `json:"readiness"`
	Note      *string   `json:"note"`
}

func (s vectorSaying) saying(cleaning bool) Report {
	return Report{Cleaning: cleaning, Readiness: s.Readiness, Note: s.Note}
}

type vectorSeen struct {
	Now          string `json:"now"`
	HostID       string `json:"hostId"`
	BootID       string `json:"bootId"`
	PIDNamespace string `json:"pidNamespace"`
	BootedAt     string `json:"bootedAt"`
	MonotonicMs  int64  `json:"monotonicMs"`
	Exited       []int  `json:"exited"`
	Unseen       []int  `json:"unseen"`
	Watch        Watch  `json:"watch"`

	Sightings *vectorSightings `json:"sightings"`
}

type vectorProcess struct {
	PID          int    `json:"pid"`
	HostID       string `json:"hostId"`
	BootID       string `json:"bootId"`
	PIDNamespace string `json:"pidNamespace"`
	StartTicks   int64  `json:"startTicks"`
}

var refusals = map[string]error{
	"over": ErrOver, "corrupt": ErrCorrupt, "noCall": ErrNoCall,
	"deadSupervisor": ErrDeadSupervisor, "knownCall": ErrKnownCall,
	"notRunning": ErrNotRunning, "otherNumbers": ErrOtherTiming, "otherProcess": ErrOtherProcess,
	"notAborted": ErrNotAborted,
	"notCrashed": ErrNotCrashed, "notSupervised": ErrNotSupervised, "newerVersion": ErrNewerVersion,
	"exhausted": ErrExhausted,
}

func TestVectors(t *testing.T) {
	dir := os.Getenv("DPL_VECTORS") // of random ones, see make soak
	if dir == "" {
		dir = "../spec/vectors"
	}

	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 60 {
		t.Fatalf("found %d vectors (%v), want at least 60", len(files), err)
	}

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v vector
			readVector(t, file, &v)
			if !strings.HasPrefix(filepath.Base(file), v.Do.Verb+"-") {
				t.Errorf("the name does not begin with the verb %s", v.Do.Verb)
			}
			v.run(t)
		})
	}
}

func readVector(t testing.TB, file string, v any) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := jsonv2.Unmarshal(data, v, jsonv2.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
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
		op = Create(created.ID, time.Duration(v.Do.HeartbeatIntervalMs)*time.Millisecond,
			time.Duration(v.Do.StalenessThresholdMs)*time.Millisecond)
	} else if op, err = Decode(given); err != nil {
		v.checkRefused(t, err)
		return
	}

	if v.Do.observes(v.Do.Verb) {
		outcome := op.Wait(v.Do.For, v.Do.Since)
		switch {
		case given == "null" && v.Do.For.MayBegin():
			outcome = Pending
		case given == "null":
			if v.Refused != "noOperation" {
				t.Errorf("refused noOperation, want %q", v.Refused)
			}
			return
		case v.Do.For == "ready":
			outcome = op.WaitReady(v.Do.Call)
		}

		v.check(t, v.Do.Verb, outcome, op.Lines(v.Do.Since))
		return
	}

	seen := v.Seen.observation(t)
	seen.sighted(func(s Sightings) Sightings { return s.SightOperation(op, seen) })
	after, err := v.do(t, op, seen)
	if err == nil {
		v.Remembered.check(t, seen,
			func(s Sightings) Sightings { return s.SightOperation(after, seen) })
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
	if place := lost(jsonValue(t, string(v.Then)), jsonValue(t, after.Encode()), ""); place != "" {
		t.Errorf("what is written has another value, or none, at %s:\n%s", place, after.Encode())
	}

	again, err := Decode(after.Encode())
	if err != nil {
		t.Fatalf("what was encoded cannot be decoded: %v", err)
	}
	if got, want := canonical(again), canonical(want); got != want {
		t.Errorf("decoded again:\n%s\nwant:\n%s", got, want)
	}

	actor := Actor{Participant: v.Do.Participant, Call: v.Do.Call}
	if got := vectorStatus(after.Verdict(actor)); v.Do.Verb == "heartbeat" && got != v.Status {
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

	if got := after.Effects().Released; len(got)+len(released) > 0 &&
		!reflect.DeepEqual(got, released) {
		t.Errorf("released %q, want %q", got, released)
	}
}

// jsonValue returns the value of text with json.Numbers, which keep their text.
func jsonValue(t *testing.T, text string) (value any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// lost returns the first place where got lacks a member of want that is not a default, or "". It
// examines the written text, because members that Decode forgets would be missing on both sides.
func lost(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for name, value := range want {
			other, ok := got[name]
			switch {
			case !ok && (isDefault(name, value) || name == "supervisorId" &&
				strings.HasSuffix(path, "/supervisorHeartbeats/"+value.(string))):
			case !ok:
				return path + "/" + name
			default:
				if place := lost(value, other, path+"/"+name); place != "" {
					return place
				}
			}
		}
		return ""
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			return path
		}
		for i := range want {
			if place := lost(want[i], got[i], path+"/"+strconv.Itoa(i)); place != "" {
				return place
			}
		}
		return ""
	case string:
		a, err := ParseTime(want)
		if text, ok := got.(string); ok && err == nil {
			if b, err := ParseTime(text); err == nil && a.Equal(b) {
				return ""
			}
		}
	}

	if !reflect.DeepEqual(want, got) {
		return path
	}

	return ""
}

func isDefault(name string, value any) bool {
	switch value := value.(type) {
	case bool:
		return value == (name == "failOnCrash")
	case string:
		return value == "" || name == "status" && value == "alive" || name == "orphanPolicy" &&
			value == "crash" || name == "readiness" && value == "ready" || name == "state" &&
			value == "active"
	case json.Number:
		return value == "0"
	case []any:
		return len(value) == 0
	case map[string]any:
		for name, value := range value {
			if !isDefault(name, value) {
				return false
			}
		}
		return true
	}

	return value == nil
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
	if e, ok := errors.AsType[*DecodeError](err); ok && v.Path != nil && e.Path != *v.Path {
		t.Errorf("path %q, want %q", e.Path, *v.Path)
	}
}

func (v *vector) do(t *testing.T, op Operation, seen Observation) (Operation, error) {
	process := Process(v.Do.Process)
	actor := Actor{
		Participant: v.Do.Participant, Call: v.Do.Call, Supervisor: v.Do.Supervisor, PID: v.Do.PID,
		Process:    process,
		Heartbeats: v.Do.Heartbeats,
	}

	switch v.Do.Verb {
	case "decode":
		return op, nil
	case "push":
		return op.Push(Push{
			Participant: v.Do.Participant, Call: v.Do.Call, Caller: v.Do.Caller,
			PID: v.Do.PID, Process: process, Supervisor: v.Do.Supervisor,
			Handle: v.Do.Handle, Description: v.Do.Description, Readiness: v.Do.Readiness,
			Resources: v.Do.Resources,
			Contained: v.Do.FailOnCrash != nil && !*v.Do.FailOnCrash, Heartbeats: v.Do.Heartbeats,
			OrphanPolicy: v.Do.OrphanPolicy,
			Interval:     time.Duration(v.Do.HeartbeatIntervalMs) * time.Millisecond,
			Threshold:    time.Duration(v.Do.StalenessThresholdMs) * time.Millisecond,
		}, seen)
	case "heartbeat":
		return op.Heartbeat(actor, v.Do.saying(v.Do.Cleaning), seen)
	case "pop":
		return op.Pop(Pop{Call: v.Do.Call, Fail: v.Do.Fail, Reason: v.Do.Reason,
			KeepOpen: v.Do.KeepOpen}, seen)
	case "abort":
		return op.Abort(v.Do.By, v.Do.Reason, seen)
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

// presence is what an observer sees that may look.
func presence(exited bool) Presence {
	if exited {
		return Gone
	}
	return Present
}

func (s vectorSeen) observation(t *testing.T) Observation {
	at := func(s string) time.Time {
		if s == "" {
			return time.Time{}
		}
		when, err := ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}

	seen := Observation{
		Now: at(s.Now),
		Host: Host{ID: s.HostID, BootID: s.BootID, PIDNamespace: s.PIDNamespace,
			BootedAt: at(s.BootedAt)},
		MonotonicMs: s.MonotonicMs,
		Watch:       s.Watch,
		Look: func(p Process) Presence {
			if slices.Contains(s.Unseen, p.PID) {
				return Unseen
			}
			return presence(slices.Contains(s.Exited, p.PID))
		},
	}

	if s.Sightings != nil {
		kept := s.Sightings.sightings(t)
		seen.Sightings = &kept
	}

	return seen
}

// vectorStatus returns the number that vectors have for v: the exit status of dpl-heartbeat.
func vectorStatus(v Verdict) int {
	return map[Verdict]int{VerdictContinue: 0, VerdictCleanUp: 3, VerdictOver: 4,
		VerdictCrashed: 5}[v]
}
