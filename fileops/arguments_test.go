package fileops

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// arguments calls use with base, a struct, once for each of its members and each extreme value that
// this member can have. A member of which base has no value gets one with one extreme member.
func arguments[T any](base func() T, use func(what string, argument T)) {
	for _, path := range paths(reflect.TypeFor[T](), nil) {
		for i := 0; ; i++ {
			argument := base()
			place := reach(reflect.ValueOf(&argument).Elem(), path)
			values := extremeValues(place.Type())
			if i >= len(values) {
				break
			}
			place.Set(values[i])
			use(fmt.Sprintf("%s%v %.40v", reflect.TypeFor[T](), path, values[i]), argument)
		}
	}
}

// inner are members that no caller chooses: what a file has besides, and handles of open files.
var inner = []string{"Unknown", "Publish"}

// paths returns the ways to the members of t that have no members themselves: numbers of fields,
// and an element of a list.
func paths(t reflect.Type, before []int) (all [][]int) {
	switch {
	case t == reflect.TypeFor[time.Time]() || t.Kind() == reflect.Func ||
		t.Kind() == reflect.Map || t.Kind() == reflect.Interface:
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return paths(t.Elem(), append(before[:len(before):len(before)], 0))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && !slices.Contains(inner, f.Name) {
				all = append(all, paths(t.Field(i).Type, append(before[:len(before):len(before)], i))...)
			}
		}
		return all
	}
	return [][]int{before}
}

// reach returns the value at the end of a path of paths, and makes what is on the way.
func reach(v reflect.Value, path []int) reflect.Value {
	for _, step := range path {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		case reflect.Slice:
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			v = v.Index(0)
		default:
			v = v.Field(step)
		}
	}
	return v
}

// extremeValues returns values that a member of type t can have and that are hard to write.
func extremeValues(t reflect.Type) (all []reflect.Value) {
	add := func(values ...any) {
		for _, value := range values {
			all = append(all, reflect.ValueOf(value).Convert(t))
		}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		add(time.Time{}, time.Unix(math.MaxInt64/2, 0), time.Unix(-1, 999999999),
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
	case t.Kind() == reflect.String:
		deep := strings.Repeat("[", wire.MaxDepth)
		add("", "x", "\x00", "\xff", "\u2028\ufffd", "..", "a/b", "é", "\ud7ff\n", strings.Repeat("x", 300),
			strings.Repeat("<", 70000), deep, `{"a":`+deep+strings.Repeat("]", wire.MaxDepth)+"}",
			`{"priority":9223372036854775808,"x":1e999}`, `{"a":1,"a":2}`, "null")
	case t.Kind() == reflect.Bool:
		add(true, false)
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		add(int64(0), int64(1), int64(-1), int64(math.MaxInt64), int64(math.MinInt64),
			int64(math.MaxInt32), int64(1)<<53+1, int64(9223372036854)*1e6)
	case t.Kind() == reflect.Uint64:
		add(uint64(0), uint64(math.MaxUint64), uint64(1)<<63)
	}
	return all
}

// extremeWorld has objects to edit, each with something in it.
type extremeWorld struct {
	t                 *testing.T
	l                 *Ledger
	op                protocol.Operation
	registry          string
	queues            map[string]string // their files, by id
	accepted, refused int
}

func newExtremeWorld(t *testing.T) *extremeWorld {
	now := time.Date(2026, 1, 20, 10, 31, 0, 0, time.UTC)
	w := &extremeWorld{t: t, l: testLedger(t, Config{}, Options{Sync: disk.SyncNone,
		Observe: func() observe.Observation { return observe.Observation{Now: now} }})}
	must(t, w.l.fs.EnsureDir(w.l.QueuesDir()))
	must(t, w.l.fs.EnsureDir(w.l.OperationsDir()))

	op := protocol.Create("op", "0123456789abcdef", time.Second, time.Minute)
	op, err := op.Push(protocol.Push{Participant: "p", Call: "c"}, observe.Observation{Now: now})
	must(t, err)
	op.Revision = 1
	w.op = op

	_, err = w.l.EditGroup("g", OrCreate,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Register(group.Registration{Service: "s", By: "x"}, seen)
		})
	must(t, err)
	w.registry = readText(t, w.l.SupervisorsPath("g"))

	w.queues = make(map[string]string)
	_, err = w.l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Enqueue([]queue.New{{ID: "old", Spec: `{"text":"x"}`}}, seen)
	})
	must(t, err)
	_, err = w.l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, "old", seen)
		return after, err
	})
	must(t, err)
	_, err = w.l.EditQueue("ask", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Ask(newQuestion(), seen)
		return after, err
	})
	must(t, err)
	for _, id := range []string{"q", "ask"} {
		w.queues[id] = readText(t, w.l.QueuePath(id))
	}
	return w
}

func newQuestion() queue.Question {
	return queue.Question{ID: "qabcdefghij", Nonce: strings.Repeat("0", 32), Kind: queue.AskQuestion, Text: "x?", Asker: queue.Asker{Participant: "x"},
		Spec: queue.AskSpec{Text: "x?"}.Content()}
}

func (w *extremeWorld) look(what, log string, edit, read error) {
	if edit == nil {
		w.accepted++
	} else {
		w.refused++
	}
	wantReadable(w.t, what, log, read)
}

func (w *extremeWorld) operation(what string,
	verb func(protocol.Operation, observe.Observation) (protocol.Operation, error)) {
	os.Remove(w.l.ArchivePath("op", 1))
	writeFile(w.t, w.l.OperationPath("op"), w.op.Encode())
	_, err := w.l.EditOperation("op", Existing, verb)
	_, _, read := w.l.ReadOperation("op")
	w.look(what, w.l.OperationAudit("op"), err, read)
}

func (w *extremeWorld) group(what string,
	verb func(group.Group, observe.Observation) (group.Group, error)) {
	os.Remove(w.l.OrchestratorPath("g"))
	writeFile(w.t, w.l.SupervisorsPath("g"), w.registry)
	_, err := w.l.EditGroup("g", Existing, verb)
	_, read := w.l.ReadGroup("g")
	w.look(what, w.l.GroupAudit("g"), err, read)
}

func (w *extremeWorld) queue(id, what string,
	verb func(queue.Queue, queue.Seen) (queue.Queue, error)) {
	writeFile(w.t, w.l.QueuePath(id), w.queues[id])
	_, err := w.l.EditQueue(id, Existing, verb)
	_, _, read := queues.Read(w.l, id)
	w.look(what, w.l.QueueAudit(id), err, read)
}

// Whatever a verb is asked for, it makes no file that readers refuse, and no such line of a record.
func TestExtremeArguments(t *testing.T) {
	t.Parallel()
	w := newExtremeWorld(t)

	arguments(func() protocol.Push { return protocol.Push{Participant: "p", Call: "new"} },
		func(what string, p protocol.Push) {
			w.operation(what, func(op protocol.Operation, seen observe.Observation) (
				protocol.Operation, error) {
				return op.Push(p, seen)
			})
		})
	arguments(func() protocol.Pop { return protocol.Pop{Call: "c"} },
		func(what string, p protocol.Pop) {
			w.operation(what, func(op protocol.Operation, seen observe.Observation) (
				protocol.Operation, error) {
				return op.Pop(p, seen)
			})
		})
	arguments(func() observe.Report { return observe.Report{} },
		func(what string, r observe.Report) {
			w.operation(what, func(op protocol.Operation, seen observe.Observation) (
				protocol.Operation, error) {
				return op.Heartbeat(protocol.Actor{Call: "c"}, r, seen)
			})
		})

	arguments(func() group.Registration {
		return group.Registration{Service: "new", By: "x", Request: true, StartInfo: &group.StartInfo{
			Command: "x", Readiness: observe.ReadinessReady}}
	},
		func(what string, r group.Registration) {
			w.group(what, func(g group.Group, seen observe.Observation) (group.Group, error) {
				return g.Register(r, seen)
			})
		})
	arguments(func() group.ServiceProcess { return group.ServiceProcess{Service: "s"} },
		func(what string, p group.ServiceProcess) {
			w.group(what, func(g group.Group, seen observe.Observation) (group.Group, error) {
				after, _, err := g.BeatService(p, observe.Report{}, seen)
				return after, err
			})
		})
	arguments(func() observe.Report { return observe.Report{} },
		func(what string, r observe.Report) {
			w.group(what, func(g group.Group, seen observe.Observation) (group.Group, error) {
				after, _, err := g.BeatService(group.ServiceProcess{Service: "s"}, r, seen)
				return after, err
			})
		})
	arguments(func() group.Finding { return group.Finding{Service: "s"} },
		func(what string, f group.Finding) {
			w.group(what, func(g group.Group, seen observe.Observation) (group.Group, error) {
				after, _, err := g.Report(f, "x", seen)
				return after, err
			})
		})
	arguments(func() plan.Request { return plan.Request{Owner: "x", PID: 1} },
		func(what string, r plan.Request) {
			w.group(what, func(g group.Group, seen observe.Observation) (group.Group, error) {
				d, err := plan.Pass(g, r, seen)
				if err != nil {
					return g, err
				}
				return d.Group(), nil
			})
		})

	arguments(func() queue.New { return queue.New{ID: "new", Spec: `{"text":"x"}`} },
		func(what string, n queue.New) {
			for _, id := range []string{"q", "mail.x"} {
				w.queues["mail.x"] = strings.Replace(w.queues["q"], `"queueId": "q"`, `"queueId": "mail.x"`, 1)
				w.queue(id, what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
					return q.Enqueue([]queue.New{n}, seen)
				})
			}
		})
	arguments(func() queue.Claimer { return queue.Claimer{Participant: "w", Deadline: time.Hour} },
		func(what string, c queue.Claimer) {
			w.queue("q", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				q, err := q.Enqueue([]queue.New{{ID: "new", Spec: `{"text":"x"}`}}, seen)
				if err != nil {
					return q, err
				}
				after, _, err := q.Claim(c, "new", seen)
				return after, err
			})
		})
	for _, end := range []queue.End{queue.Done, queue.Failed, queue.TempFail, queue.Snoozed} {
		arguments(func() queue.Settlement {
			return queue.Settlement{Task: "old", Epoch: 1, Outcome: queue.Outcome{End: end}}
		}, func(what string, s queue.Settlement) {
			w.queue("q", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Settle(s, seen)
			})
		})
	}
	arguments(func() queue.Control { return queue.Control{By: "x"} },
		func(what string, c queue.Control) {
			w.queue("q", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Control(c, seen)
			})
		})
	arguments(func() queue.Policy { return queue.Policy{MaxAttempts: 1, Backoff: []time.Duration{0}} },
		func(what string, p queue.Policy) {
			w.queue("q", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Control(queue.Control{By: "x", Policy: func(to *queue.Policy) { *to = p }}, seen)
			})
		})

	arguments(newQuestion, func(what string, asked queue.Question) {
		w.queue("ask", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			after, _, err := q.Ask(asked, seen)
			return after, err
		})
	})
	arguments(func() queue.Answer {
		return queue.Answer{End: queue.EndedAnswered, Text: "x", By: "x"}
	}, func(what string, a queue.Answer) {
		w.queue("ask", what, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			const id = "qabcdefghij"
			if t := q.Task(id); t != nil && t.Ask != nil {
				a.Shown = t.Shown(q.ID).Hash()
			}
			return q.Answer(id, a, seen)
		})
	})

	t.Logf("%d edits, %d refused", w.accepted, w.refused)
	if w.accepted < 500 || w.refused < 100 {
		t.Errorf("only %d edits, and %d refused", w.accepted, w.refused)
	}
}
