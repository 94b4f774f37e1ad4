package fileops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// extremes returns texts that a reader may accept: text with a number or a time that is as high as
// can be, or with a value that is nested as deep as can be, in each place.
func extremes(text string) (all []string) {
	replace := func(what *regexp.Regexp, by ...string) {
		for _, at := range what.FindAllStringSubmatchIndex(text, -1) {
			for _, value := range by {
				all = append(all, text[:at[2]]+value+text[at[3]:])
			}
		}
	}
	replace(regexp.MustCompile(`: ?(\d+)`), "9223372036854775807", "4611686018427387904",
		"2305843009213693951", "9223372036854")
	replace(regexp.MustCompile(`("\d\d\d\d-[^"]*Z")`), `"9999-12-31T23:59:59.999Z"`)

	depth := 0
	for i, c := range text {
		switch c {
		case '[', '}', ']':
			depth += map[rune]int{'[': 1}[c]*2 - 1
		case '{':
			depth++
			deep := strings.Repeat("[", wire.MaxDepth-depth) + strings.Repeat("]", wire.MaxDepth-depth)
			comma := map[bool]string{true: ",", false: ""}[text[i+1] != '}']
			all = append(all, text[:i+1]+`"deep":`+deep+comma+text[i+1:])
		}
	}
	return all
}

// given returns the files that some of the vectors begin with, ten times as many with DPL_SOAK.
func given(t *testing.T, pattern string, some int) (all []json.RawMessage) {
	t.Helper()
	paths, err := filepath.Glob("../spec/vectors/" + pattern)
	must(t, err)
	if os.Getenv("DPL_SOAK") != "" {
		some *= 10
	}
	step := max(1, len(paths)/some)
	for i := 0; i < len(paths); i += step {
		data, err := os.ReadFile(paths[i])
		must(t, err)
		var v struct{ Given json.RawMessage }
		must(t, json.Unmarshal(data, &v))
		if len(v.Given) > 0 && v.Given[0] == '{' {
			all = append(all, v.Given)
		}
	}
	return all
}

// wantReadable reports a file that no command could read, and lines of a record.
func wantReadable(t *testing.T, name, log string, err error) {
	t.Helper()
	data, _ := os.ReadFile(log)
	for line := range strings.Lines(string(data)) {
		if err == nil {
			_, err = audit.Parse(strings.TrimSuffix(line, "\n"))
		}
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	os.Remove(log)
}

// Whatever a file has that readers accept, no edit makes it one that they refuse: neither the file,
// nor a line of its record.
func TestExtremeValues(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 20, 10, 31, 0, 0, time.UTC)
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone,
		Observe: func() observe.Observation { return observe.Observation{Now: now} }})
	must(t, l.fs.EnsureDir(l.QueuesDir()))
	must(t, l.fs.EnsureDir(l.OperationsDir()))
	accepted, refused := 0, 0
	count := func(err error) {
		if err == nil {
			accepted++
		} else {
			refused++
		}
	}

	for _, text := range append(given(t, "queues/*.json", 4), given(t, "queues/settle-*.json", 5)...) {
		for _, text := range extremes(string(text)) {
			q, err := queue.Decode(text)
			if err != nil || q.ID != "q" {
				continue
			}
			for name, verb := range queueVerbs(q) {
				writeFile(t, l.QueuePath("q"), text)
				_, err := l.EditQueue("q", Existing, verb)
				count(err)
				_, _, err = queues.Read(l, "q")
				wantReadable(t, name+" of "+text, l.QueueAudit("q"), err)
			}
		}
	}

	for _, text := range given(t, "*.json", 5) {
		for _, text := range extremes(string(text)) {
			op, err := protocol.Decode(text)
			if err != nil {
				continue
			}
			for name, verb := range operationVerbs(op) {
				writeFile(t, l.OperationPath(op.ID), text)
				os.Remove(l.ArchivePath(op.ID, 1))
				_, err := l.EditOperation(op.ID, Existing, verb)
				count(err)
				_, _, err = l.ReadOperation(op.ID)
				wantReadable(t, name+" of "+text, l.OperationAudit(op.ID), err)
			}
		}
	}

	for _, text := range given(t, "groups/*.json", 5) {
		var files struct{ Supervisors json.RawMessage }
		must(t, json.Unmarshal(text, &files))
		for _, text := range extremes(string(files.Supervisors)) {
			if _, err := group.DecodeRegistry(text); err != nil {
				continue
			}
			for name, verb := range groupVerbs {
				os.Remove(l.OrchestratorPath("g"))
				writeFile(t, l.SupervisorsPath("g"), text)
				_, err := l.EditGroup("g", Existing, verb)
				count(err)
				_, err = l.ReadGroup("g")
				wantReadable(t, name+" of "+text, l.GroupAudit("g"), err)
			}
		}
	}
	t.Logf("%d edits, %d refused", accepted, refused)
	if accepted < 300 || refused < 10 {
		t.Errorf("only %d edits, and %d refused", accepted, refused)
	}
}

func queueVerbs(q queue.Queue) map[string]func(queue.Queue, queue.Seen) (queue.Queue, error) {
	type verb = func(q queue.Queue, seen queue.Seen) (queue.Queue, error)
	verbs := map[string]verb{
		"halt": func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Control(queue.Control{By: "x", Halt: &queue.HaltRequest{Reason: "x"}}, seen)
		},
		"claim": func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			after, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, "", seen)
			return after, err
		},
		"enqueue": func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Enqueue([]queue.New{{ID: "new", Spec: `{"text":"x"}`}}, seen)
		},
	}
	for _, t := range q.Tasks {
		if t.Claim == nil {
			continue
		}
		for _, end := range []queue.End{queue.Failed, queue.Done, queue.TempFail} {
			s := queue.Settlement{Task: t.ID, Epoch: t.Claim.Epoch, Outcome: queue.Outcome{End: end}}
			verbs[fmt.Sprint("settle ", end)] = func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Settle(s, seen)
			}
		}
	}
	return verbs
}

func operationVerbs(op protocol.Operation) map[string]Verb[protocol.Operation] {
	verbs := map[string]Verb[protocol.Operation]{
		"push": func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Push(protocol.Push{Participant: "p", Call: "new"}, seen)
		},
		"cleanup": func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Cleanup("janitor", seen)
		},
	}
	if n := len(op.Stack); n > 0 {
		call := op.Stack[n-1].CallID
		verbs["pop"] = func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Pop(protocol.Pop{Call: call}, seen)
		}
		verbs["heartbeat"] = func(op protocol.Operation, seen observe.Observation) (
			protocol.Operation, error) {
			return op.Heartbeat(protocol.Actor{Call: call}, observe.Report{}, seen)
		}
	}
	return verbs
}

var groupVerbs = map[string]Verb[group.Group]{
	"pass": func(g group.Group, seen observe.Observation) (group.Group, error) {
		d, err := plan.Pass(g, plan.Request{Owner: "x", PID: os.Getpid()}, seen)
		if err != nil {
			return g, err
		}
		return d.Group(), nil
	},
	"register": func(g group.Group, seen observe.Observation) (group.Group, error) {
		return g.Register(group.Registration{Service: "new", By: "x"}, seen)
	},
}
