package queue

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// What vectors have about questions (spec §50).

// vectorOthers is what is seen of other queues. A null stands for what cannot be read.
type vectorOthers struct {
	Questions map[string]*struct {
		End    TaskEnd `json:"end"`
		Answer string  `json:"answer"`
	} `json:"questions"`
	Parked map[string]*struct {
		Epoch    *int64  `json:"epoch"`
		Question *string `json:"question"`
	} `json:"parked"`
}

func (v *vectorOthers) question(name string) QuestionState {
	q, listed := v.Questions[name]
	switch {
	case !listed:
		return QuestionState{Known: true, End: EndedWithdrawn}
	case q == nil:
		return QuestionState{}
	}
	return QuestionState{Known: true, End: q.End, Answer: q.Answer}
}

func (v *vectorOthers) gone(queueID, task string, epoch int64, question string) bool {
	parked, exists := v.Parked[queueID+"/"+task]
	switch {
	case !exists:
		return true
	case parked == nil:
		return false
	case parked.Epoch != nil:
		return *parked.Epoch != epoch
	}
	return parked.Question == nil || *parked.Question != question
}

// vectorEnded is what is known of a task that ended long ago.
type vectorEnded struct {
	TaskID   string          `json:"taskId"`
	End      TaskEnd         `json:"end"`
	Spec     string          `json:"spec"`
	Decision json.RawMessage `json:"decision"`
}

func (v vectorEnded) ended(t *testing.T) Ended {
	e := Ended{ID: v.TaskID, End: v.End, Spec: v.Spec}
	if v.Decision != nil {
		d, err := wire.DecodeRecord(string(v.Decision), (*Decision).record)
		if err != nil {
			t.Fatal(err)
		}
		e.Decision = &d
	}
	return e
}

// vectorAsk has the arguments of the verbs of questions.
type vectorAsk struct {
	ID        string          `json:"id"`
	Kind      AskKind         `json:"kind"`
	Spec      json.RawMessage `json:"spec"`
	Text      string          `json:"text"`
	ExpiresMs int64           `json:"expiresMs"`
	Scope     string          `json:"scope"`
	Key       string          `json:"key"`
	Asker     vectorAsker     `json:"asker"`
	Ruled     *struct {
		End    TaskEnd `json:"end"`
		File   string  `json:"file"`
		Hash   string  `json:"hash"`
		Number int64   `json:"number"`
		Reason string  `json:"reason"`
	} `json:"ruled"`
	Nonce      string            `json:"nonce"`
	Signed     bool              `json:"signed"`
	Discounted string            `json:"discounted"`
	Ended      json.RawMessage   `json:"ended"`
	Shown      string            `json:"shown"`
	User       string            `json:"user"`
	Queue      string            `json:"queue"`
	Processes  []vectors.Process `json:"processes"`
	AllowSelf  bool              `json:"allowSelf"`
	Whole      bool              `json:"whole"`
	Signature  struct {
		At   time.Time `json:"at"`
		Text string    `json:"text"`
	} `json:"signature"`
}

type vectorAsker struct {
	Participant string          `json:"participant"`
	User        string          `json:"user"`
	PID         int             `json:"pid"`
	Process     vectors.Process `json:"process"`
	Waiter      vectors.Process `json:"waiter"`
	Operation   string          `json:"operation"`
	Call        string          `json:"call"`
	Queue       string          `json:"queue"`
	Task        string          `json:"task"`
	Epoch       int64           `json:"epoch"`
	Origin      struct {
		Process     vectors.Process `json:"process"`
		Operation   string          `json:"operation"`
		Queue       string          `json:"queue"`
		Task        string          `json:"task"`
		Participant string          `json:"participant"`
	} `json:"origin"`
}

func (v vectorAsker) asker() Asker {
	return Asker{Participant: v.Participant, User: v.User, PID: v.PID,
		Process: observe.Process(v.Process), Waiter: observe.Process(v.Waiter),
		Operation: v.Operation, Call: v.Call, Queue: v.Queue, Task: v.Task, Epoch: v.Epoch,
		Origin: Origin{Process: observe.Process(v.Origin.Process), Operation: v.Origin.Operation,
			Queue: v.Origin.Queue, Task: v.Origin.Task, Participant: v.Origin.Participant}}
}

func (v *vector) ask(t *testing.T, q Queue, seen Seen) (Queue, error) {
	spec := jsontext.Value(v.Do.Spec)
	if err := spec.Compact(); err != nil {
		t.Fatal(err)
	}
	asked := Question{ID: v.Do.ID, Nonce: v.Do.Nonce, Signed: v.Do.Signed, Discounted: v.Do.Discounted,
		Kind: v.Do.Kind, Scope: v.Do.Scope, Key: v.Do.Key, Spec: Content(spec),
		Text: v.Do.Text, Asker: v.Do.Asker.asker(), Expires: wire.Milliseconds(v.Do.ExpiresMs)}
	if r := v.Do.Ruled; r != nil {
		asked.Ruled, asked.RuledEnd, asked.Reason = &Rule{r.File, r.Hash, r.Number}, r.End, r.Reason
	}

	after, id, err := q.Ask(asked, seen)
	if err == nil && (v.ID == nil || *v.ID != id) {
		t.Errorf("its id is %s, want %v", id, v.ID)
	}
	return after, err
}

func (v *vector) take(t *testing.T, q Queue, seen Seen) (Queue, error) {
	yes, err := DecodeRemembered(string(v.Do.Ended))
	if err != nil {
		t.Fatal(err)
	}
	return q.Take(yes, seen)
}

func (v *vector) answer() Answer {
	a := Answer{End: TaskEnd(v.Do.End), Text: v.Do.Text, By: v.Do.By, User: v.Do.User,
		Operation: v.Do.Operation, Queue: v.Do.Queue, Task: v.Do.Task, AllowSelf: v.Do.AllowSelf,
		Whole: v.Do.Whole, Shown: v.Do.Shown, SignedAt: v.Do.Signature.At, Signature: v.Do.Signature.Text}
	for _, p := range v.Do.Processes {
		a.Processes = append(a.Processes, observe.Process(p))
	}
	return a
}
