package queue

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// vector is one file of spec/vectors/queues (spec §40).
type vector struct {
	Comment   string          `json:"comment"`
	Section   string          `json:"section"`
	Given     json.RawMessage `json:"given"`
	GivenText *string         `json:"givenText"`
	Seen      struct {
		vectors.Seen `json:",inline"`
		Calls        map[string]CallState   `json:"calls"`
		Past         map[string]vectorEnded `json:"past"`
		PastKeys     map[string]vectorEnded `json:"pastKeys"`
		Recorded     *bool                  `json:"recorded"`
		vectorOthers `json:",inline"`
	} `json:"seen"`
	Do struct {
		Verb string `json:"verb"`

		// enqueue, redrive and cancel: objects, or ids
		Tasks json.RawMessage `json:"tasks"`
		All   bool            `json:"all"`
		By    string          `json:"by"`

		Participant string          `json:"participant"`
		PID         int             `json:"pid"`
		Process     vectors.Process `json:"process"`
		Keeper      vectors.Process `json:"keeper"`
		Operation   string          `json:"operation"`
		Call        string          `json:"call"`
		DeadlineMs  int64           `json:"deadlineMs"`

		Task     string `json:"task"`
		Epoch    int64  `json:"epoch"`
		End      End    `json:"end"`
		Status   int64  `json:"status"`
		Reason   string `json:"reason"`
		Question string `json:"question"`
		DelayMs  int64  `json:"delayMs"`
		Later    bool   `json:"later"`

		LastSeq   int64 `json:"lastSeq"`
		LastEpoch int64 `json:"lastEpoch"`
		Revision  int64 `json:"revision"`
		Named     int64 `json:"named"`
		Recorded  bool  `json:"recorded"`
		Settled   []struct {
			Task  string `json:"task"`
			Epoch int64  `json:"epoch"`
			End   End    `json:"end"`
		} `json:"settled"`

		Create   bool         `json:"create"`
		Policy   vectorPolicy `json:"policy"`
		Goal     *string      `json:"goal"`
		GoalDone bool         `json:"goalDone"`
		Close    *bool        `json:"close"`
		Permits  *struct {
			All bool   `json:"all"`
			Add *int64 `json:"add"`
			Set *int64 `json:"set"`
		} `json:"permits"`
		Resume bool `json:"resume"`
		Halt   *struct {
			Reason  string `json:"reason"`
			Details string `json:"details"`
			Now     bool   `json:"now"`
		} `json:"halt"`

		vectorAsk `json:",inline"`
	} `json:"do"`
	Then      json.RawMessage `json:"then"`
	Unchanged bool            `json:"unchanged"`
	Refused   string          `json:"refused"`
	Path      *string         `json:"path"`
	Entry     *int            `json:"entry"`
	ID        *string         `json:"id"`
	Claimed   json.RawMessage `json:"claimed"`
	Verdict   Verdict         `json:"verdict"`
	Holds     []vectorHold    `json:"holds"`
	Line      *int            `json:"line"`
	Aborts    []string        `json:"aborts"`
	Written   []string        `json:"written"`
	Past      []vectorPast    `json:"past"`

	Remembered *vectors.Sightings `json:"remembered"`
}

type vectorPast struct {
	Seq    int64  `json:"seq"`
	TaskID string `json:"taskId"`
}

type vectorHold struct {
	Kind    HoldKind `json:"kind"`
	By      string   `json:"by"`
	Reason  string   `json:"reason"`
	Task    string   `json:"task"`
	State   string   `json:"state"`
	Until   string   `json:"until"`
	Claimed int64    `json:"claimed"`
}

// vectorNew is a task to be enqueued.
type vectorNew struct {
	ID          string          `json:"id"`
	Key         string          `json:"key"`
	Spec        json.RawMessage `json:"spec"`
	Priority    int64           `json:"priority"`
	After       []string        `json:"after"`
	Group       string          `json:"group"`
	DelayMs     int64           `json:"delayMs"`
	NotBefore   string          `json:"notBefore"`
	ExpiresMs   int64           `json:"expiresMs"`
	MaxAttempts int64           `json:"maxAttempts"`
	Traceparent string          `json:"traceparent"`
	Replace     bool            `json:"replace"`
}

// vectorPolicy has the members of a policy that are to be changed.
type vectorPolicy struct {
	Slots            *int64            `json:"slots"`
	MaxAttempts      *int64            `json:"maxAttempts"`
	BackoffMs        *[]int64          `json:"backoffMs"`
	OnDeadDependency *DependencyPolicy `json:"onDeadDependency"`
	HaltOn           *[]string         `json:"haltOn"`
	Depth            *int64            `json:"depth"`
	AgeAfterMs       *int64            `json:"ageAfterMs"`
	RememberForMs    *int64            `json:"rememberForMs"`
}

var refusals = map[string]error{
	"corrupt": wire.ErrCorrupt, "newerVersion": wire.ErrNewerVersion,
	"exhausted": wire.ErrExhausted,
	"noQueue":   ErrNoQueue, "noTask": ErrNoTask, "noDependency": ErrNoDependency,
	"knownTask": ErrKnownTask, "claimed": ErrClaimed, "ended": ErrEnded, "cycle": ErrCycle,
	"closed": ErrClosed, "full": ErrFull, "gone": ErrGone, "holds": ErrHolds, "held": ErrHeld, "lost": ErrLost,
	"settled": ErrSettled, "otherPolicy": ErrOtherPolicy, "otherHalts": ErrOtherHalts,
	"notManual": ErrNotManual, "notDead": ErrNotDead, "notEmpty": ErrNotEmpty,
	"notAsk": ErrNotAsk, "onlyAsk": ErrOnlyAsk, "notQuestion": ErrNotQuestion,
	"otherKind": ErrOtherKind, "decided": ErrDecided, "over": ErrOver, "own": ErrOwn,
	"changed": ErrChanged, "unsigned": ErrUnsigned, "takenId": ErrTakenID, "unchecked": ErrUnchecked, "unrecorded": ErrUnrecorded,
}

func TestVectors(t *testing.T) {
	for _, file := range vectors.Files(t, "../..", "queues", 100) {
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
	given, q, err := string(v.Given), Create("q"), error(nil)
	if v.GivenText != nil {
		given = *v.GivenText
	}
	if given != "null" {
		if q, err = Decode(given); err != nil {
			v.checkRefused(t, err)
			return
		}
	} else if v.Do.Verb == "ask" {
		q = Create("ask")
	} else if v.Do.Verb != "enqueue" && !v.Do.Create {
		v.checkRefused(t, ErrNoQueue) // as the shell does, which finds no file
		return
	}

	before, seen := q.Encode(), v.seen(t)
	vectors.Sight(&seen.Observation, q.Times)
	if v.Do.Verb == "hold" {
		v.checkHold(t, q, seen)
		return
	}

	after, err := v.do(t, q, seen)
	if q.Encode() != before {
		t.Error("the queue that was given has changed")
	}
	if err == nil {
		v.Remembered.Check(t, seen.Observation, after.Times)
	}

	unchanged := after.Encode() == before
	switch {
	case err != nil:
		v.checkRefused(t, err)
		if !unchanged {
			t.Error("refused, but changed")
		}
		return
	case v.Refused != "":
		t.Errorf("not refused; after:\n%s", after.Encode())
	case v.Unchanged:
		if !unchanged {
			t.Errorf("changed:\n%s", after.Encode())
		}
	default:
		v.checkThen(t, after)
	}
	if v.Do.Verb != "decode" {
		v.checkEffects(t, after)
	}
}

func (v *vector) seen(t *testing.T) Seen {
	return Seen{
		Observation: v.Seen.Observation(t),
		Call: func(operation, call string) CallState {
			return v.Seen.Calls[operation+"/"+call]
		},
		Past: func(id string) (Ended, bool) {
			past, known := v.Seen.Past[id]
			past.TaskID = id
			return past.ended(t), known
		},
		PastKey: func(keyID string) (Ended, bool) {
			past, known := v.Seen.PastKeys[keyID]
			return past.ended(t), known
		},
		Recorded: func(audit.Chain, func(audit.Line) bool) (bool, error) {
			return v.Seen.Recorded == nil || *v.Seen.Recorded, nil
		},
		Question: v.Seen.question,
		Parked:   v.Seen.gone,
	}
}

func (v *vector) checkRefused(t *testing.T, err error) {
	want, ok := refusals[v.Refused]
	if !ok || !errors.Is(err, want) {
		t.Errorf("refused: %v, want %q", err, v.Refused)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && v.Path != nil && e.Path != *v.Path {
		t.Errorf("path %q, want %q", e.Path, *v.Path)
	}

	e, named := errors.AsType[*EntryError](err)
	if named != (v.Entry != nil) || named && e.Entry != *v.Entry {
		t.Errorf("entry %+v, want %v", e, v.Entry)
	}
}

func (v *vector) checkThen(t *testing.T, after Queue) {
	want, err := Decode(string(v.Then))
	if err != nil {
		t.Fatalf("then: %v", err)
	}
	if got, want := canonical(after), canonical(want); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if place := vectors.Lost(t, string(v.Then), after.Encode()); place != "" &&
		!mayBeMissing(place) {
		t.Errorf("what is written has another value, or none, at %s:\n%s", place, after.Encode())
	}

	again, err := Decode(after.Encode())
	if err != nil {
		t.Fatalf("what was encoded cannot be decoded: %v", err)
	}
	if got := canonical(again); got != canonical(want) || again.Encode() != after.Encode() {
		t.Errorf("decoded again:\n%s\nwant:\n%s", again.Encode(), after.Encode())
	}
}

// mayBeMissing reports whether the member at place may be left out, or written otherwise: it has
// its default, or counts for nothing.
func mayBeMissing(place string) bool {
	return slices.ContainsFunc([]string{"/onDeadDependency", "/beat", "/process", "/keeper",
		"/waiter", "/protocolVersion", "/state"}, func(name string) bool { return strings.HasSuffix(place, name) })
}

// canonical returns the text of q with nothing copied from where it was decoded.
func canonical(q Queue) string {
	q.source = nil
	q.Ended = slices.Clone(q.Ended)
	for i := range q.Ended {
		q.Ended[i].piece = wire.Piece{}
	}
	q.Tasks = slices.Clone(q.Tasks)
	for i, task := range q.Tasks {
		fresh := *task
		q.Tasks[i] = &fresh
	}
	return q.Encode()
}

func (v *vector) checkEffects(t *testing.T, after Queue) {
	var aborts, written []string
	for _, a := range after.Aborts() {
		aborts = append(aborts, a.Operation)
	}
	for _, s := range after.Effects().Specs {
		written = append(written, s.Task)
	}

	var past []vectorPast
	for _, r := range after.Effects().Remember {
		past = append(past, vectorPast{r.Seq, r.ID})
		line := r.Line()
		if e, err := DecodeRemembered(line); err != nil || e.ID != r.ID || e.End != r.End ||
			e.Spec != r.Spec || e.Last != r.Last || !e.At.Equal(r.At) {
			t.Errorf("%s is %+v, %v", line, e, err)
		}
	}

	if !slices.Equal(aborts, v.Aborts) {
		t.Errorf("aborts %q, want %q", aborts, v.Aborts)
	}
	if !slices.Equal(written, v.Written) {
		t.Errorf("written %q, want %q", written, v.Written)
	}
	if !slices.Equal(past, v.Past) {
		t.Errorf("past %v, want %v", past, v.Past)
	}
}

func (v *vector) checkHold(t *testing.T, q Queue, seen Seen) {
	task := q.Task(v.Do.Task)
	if task == nil {
		t.Fatalf("there is no task %q", v.Do.Task)
	}

	holds := []vectorHold{}
	for _, h := range q.Holds(task, seen) {
		until := ""
		if !h.Until.IsZero() {
			until = h.Until.Format("2006-01-02T15:04:05.000Z07:00")
		}
		holds = append(holds, vectorHold{h.Kind, h.By, h.Reason, h.Task, h.State, until, h.Claimed})
	}

	if !reflect.DeepEqual(holds, v.Holds) {
		t.Errorf("holds %+v, want %+v", holds, v.Holds)
	}
	ahead, ready := q.Ready(task, seen)
	if ready != (v.Line != nil) || ready && ahead != *v.Line {
		t.Errorf("ready %v, after %d; want %v", ready, ahead, v.Line)
	}
}

func (v *vector) do(t *testing.T, q Queue, seen Seen) (Queue, error) {
	by := v.Do.By
	if by == "" {
		by = Operator
	}

	switch v.Do.Verb {
	case "decode":
		return q, nil
	case "enqueue":
		var tasks []vectorNew
		v.tasks(t, &tasks)
		return q.Enqueue(newTasks(t, tasks), seen)
	case "claim":
		return v.claim(t, q, seen)
	case "settle":
		return q.Settle(Settlement{Task: v.Do.Task, Epoch: v.Do.Epoch, Later: v.Do.Later,
			Outcome: Outcome{End: v.Do.End, Status: v.Do.Status, Reason: v.Do.Reason,
				Question: v.Do.Question, Delay: wire.Milliseconds(v.Do.DelayMs)}}, seen)
	case "unclaim":
		return q.Unclaim(v.Do.Task, v.Do.Epoch, seen)
	case "pass":
		return q.Pass(seen)
	case "control":
		return q.Control(v.control(by), seen)
	case "redrive":
		var ids []string
		v.tasks(t, &ids)
		return q.Redrive(ids, v.Do.All, seen)
	case "cancel":
		var ids []string
		v.tasks(t, &ids)
		return q.Cancel(ids, by, v.Do.Reason, seen)
	case "remove":
		return q.Remove(seen)
	case "restore":
		f := Found{LastSeq: v.Do.LastSeq, LastEpoch: v.Do.LastEpoch, Revision: v.Do.Revision,
			Named: v.Do.Named, Recorded: v.Do.Recorded, Settled: make(map[Claimable]End)}
		for _, s := range v.Do.Settled {
			f.Settled[Claimable{s.Task, s.Epoch}] = s.End
		}
		return q.Restore(f, seen.Observation)
	case "alerted":
		return q.Alerted(Alert{Task: v.Do.Task, Epoch: v.Do.Epoch, By: v.Do.By, Reason: v.Do.Reason},
			seen)
	case "ask":
		return v.ask(t, q, seen)
	case "answer":
		return q.Answer(v.Do.ID, v.answer(), seen)
	case "taken":
		return v.take(t, q, seen)
	case "withdraw":
		return q.Withdraw(v.Do.ID, v.Do.Asker.asker(), seen)
	}

	t.Fatalf("unknown verb %q", v.Do.Verb)
	return q, nil
}

// tasks reads the argument tasks, which may be absent.
func (v *vector) tasks(t *testing.T, to any) {
	if v.Do.Tasks == nil {
		return
	}
	d := json.NewDecoder(strings.NewReader(string(v.Do.Tasks)))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func newTasks(t *testing.T, tasks []vectorNew) (all []New) {
	for _, n := range tasks {
		spec := jsontext.Value(n.Spec)
		if err := spec.Compact(); err != nil {
			t.Fatal(err)
		}
		content := Content(spec)
		if spec.Kind() == '"' {
			text, err := jsontext.AppendUnquote(nil, spec)
			if err != nil {
				t.Fatal(err)
			}
			content = Content(text)
		}

		notBefore := time.Time{}
		if n.NotBefore != "" {
			var err error
			if notBefore, err = wire.ParseTime(n.NotBefore); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, New{
			ID: n.ID, Key: n.Key, Spec: content, Priority: n.Priority, After: n.After,
			Group: n.Group, Delay: wire.Milliseconds(n.DelayMs), NotBefore: notBefore,
			Expires: wire.Milliseconds(n.ExpiresMs), MaxAttempts: n.MaxAttempts, Replace: n.Replace,
			Traceparent: n.Traceparent,
		})
	}
	return all
}

func (v *vector) claim(t *testing.T, q Queue, seen Seen) (Queue, error) {
	after, task, err := q.Claim(Claimer{
		Participant: v.Do.Participant, PID: v.Do.PID, Process: observe.Process(v.Do.Process),
		Keeper: observe.Process(v.Do.Keeper), Operation: v.Do.Operation, Call: v.Do.Call,
		Deadline: wire.Milliseconds(v.Do.DeadlineMs),
	}, v.Do.Task, seen)
	if err != nil {
		return after, err
	}

	claimed, verdict := "null", after.Verdict()
	if task != nil {
		claimed, verdict = `"`+task.ID+`"`, ""
		if after.Task(task.ID) != task {
			t.Error("the task that was claimed is not that of the queue")
		}
	}
	if claimed != string(v.Claimed) || verdict != v.Verdict {
		t.Errorf("claimed %s, %q; want %s, %q", claimed, verdict, v.Claimed, v.Verdict)
	}
	return after, nil
}

func (v *vector) control(by string) Control {
	c := Control{By: by, Create: v.Do.Create, Goal: v.Do.Goal, Done: v.Do.GoalDone,
		Close: v.Do.Close, Resume: v.Do.Resume}
	if v.Do.Policy != (vectorPolicy{}) {
		c.Policy = v.Do.Policy.change
	}
	if p := v.Do.Permits; p != nil {
		c.Permits = &PermitChange{All: p.All, Add: p.Add != nil}
		for _, n := range []*int64{p.Add, p.Set} {
			if n != nil {
				c.Permits.Count = *n
			}
		}
	}
	if h := v.Do.Halt; h != nil {
		c.Halt = &HaltRequest{h.Reason, h.Details, h.Now}
	}
	return c
}

func (v vectorPolicy) change(p *Policy) {
	set(&p.Slots, v.Slots)
	set(&p.MaxAttempts, v.MaxAttempts)
	set(&p.OnDeadDependency, v.OnDeadDependency)
	set(&p.Depth, v.Depth)
	if v.BackoffMs != nil {
		p.Backoff = nil
		for _, ms := range *v.BackoffMs {
			p.Backoff = append(p.Backoff, wire.Milliseconds(ms))
		}
	}
	if v.HaltOn != nil {
		p.HaltOn = nil
		for _, word := range *v.HaltOn {
			rule, err := ParseHaltRule(word)
			if err != nil {
				panic(err)
			}
			p.HaltOn = append(p.HaltOn, rule)
		}
	}
	if v.AgeAfterMs != nil {
		p.AgeAfter = wire.Milliseconds(*v.AgeAfterMs)
	}
	if v.RememberForMs != nil {
		p.RememberFor = wire.Milliseconds(*v.RememberForMs)
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
