package queue

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// AuditEvents returns what the patch of a line in the record of a queue means for people: what has
// happened to its tasks and halts, and its goal (spec §57).
func AuditEvents(l audit.Line) (events []audit.Event) {
	add := func(kind, task, text string) {
		events = append(events, audit.Event{Kind: kind, Task: task, Text: text})
	}
	ends, reasons := make(map[string]string), make(map[string]string) // of attempts, by task
	settled := make(map[string]bool)

	for _, c := range l.Patch {
		in, rest, _ := strings.Cut(c.Path, "/")
		task, member, _ := strings.Cut(rest, "/")
		switch {
		case in == "tasks" && member == "lastEnd" && c.After != "":
			ends[task] = unquoted(c.After)
		case in == "tasks" && member == "lastEpoch":
			settled[task] = true
		case in == "tasks" && member == "lastReason" && c.After != "":
			reasons[task] = ": " + unquoted(c.After)
		case c.Path == "halts":
			haltEvents(c, add)
		case c.Path == "goal" && goalOf(c.After), c.Path == "goal/completed" && c.After == "true":
			add(audit.EventCompleted, "", "the goal is completed")
		case c.Path == "removed" && c.After == "true":
			add(audit.EventRemoved, "", "the queue was removed")
		}
	}

	for _, c := range l.Patch {
		in, rest, _ := strings.Cut(c.Path, "/")
		task, member, _ := strings.Cut(rest, "/")
		switch {
		case c.Path == "" && l.Seq > 1:
			add(audit.EventWhole, "", "the whole object follows")
		case c.Path == "":
			wholeEvents(c.After, add)
		case in == "tasks" && member == "":
			if c.After != "" {
				comes(task, c.After, add)
			}
		case in == "ended" && member == "" && c.After != "":
			endedEvent(memberOf(c.After, "taskId"), c.After, add)
		case in == "tasks" && member == "claim" && c.After != "":
			add(audit.EventClaimed, task, task+" claimed by "+memberOf(c.After, "participant"))
		case in == "tasks" && member == "claim" && !settled[task]:
			add(audit.EventUnclaimed, task, task+" unclaimed: it could not be begun")
		case in == "tasks" && member == "claim":
			add(audit.EventSettled, task, task+" settled: "+ends[task]+reasons[task])
		case in == "tasks" && member == "state" && (c.After == `"blocked"` || c.After == `"dead"`):
			add(unquoted(c.After), task, task+" is "+unquoted(c.After))
		}
	}
	return events
}

// haltEvents adds the halts that were set and lifted.
func haltEvents(c audit.Change, add func(kind, task, text string)) {
	before, after := elements(c.Before), elements(c.After)
	for _, h := range after {
		if !slices.Contains(before, h) {
			add(audit.EventHalted, "", "halted by "+memberOf(h, "by")+": "+memberOf(h, "reason"))
		}
	}
	for _, h := range before {
		if !slices.Contains(after, h) {
			add(audit.EventResumed, "", "no longer halted by "+memberOf(h, "by"))
		}
	}
}

// wholeEvents adds the tasks that a new queue begins with.
func wholeEvents(text string, add func(kind, task, text string)) {
	add(audit.EventCreated, "", "the queue is there")
	r := wire.NewReader(text, -4)
	r.Object(func(name string) {
		if name != "tasks" {
			r.Value()
			return
		}
		r.Array(func() {
			text := r.Value()
			comes(memberOf(text, "taskId"), text, add)
		})
	})
}

// comes adds a new task, or a question.
func comes(task, text string, add func(kind, task, text string)) {
	if memberOf(text, "state") == string(Open) {
		add(audit.EventAsked, task, task+" asked: "+memberOf(inside(text, "ask"), "text"))
		return
	}
	add(audit.EventEnqueued, task, task+" enqueued")
}

func endedEvent(task, text string, add func(kind, task, text string)) {
	end, decision := memberOf(text, "end"), inside(text, "decision")
	by := memberOf(decision, "by")
	if end == string(EndedDone) {
		by = memberOf(text, "lastBy")
	}
	told := task + " " + end
	if by != "" {
		told += " by " + by
	}
	if answer := memberOf(decision, "answer"); answer != "" {
		told += ": " + answer
	}
	add(end, task, told)
}

func goalOf(text string) bool { return strings.Contains(text, `"completed":true`) }

// elements returns the elements of an array.
func elements(array string) (all []string) {
	if array == "" {
		return nil
	}
	r := wire.NewReader(array, -4)
	r.Array(func() { all = append(all, r.Value()) })
	return all
}

// memberOf returns a member of an object that is a string, or "".
func memberOf(object, member string) (text string) {
	r := wire.NewReader(object, -4)
	if object == "" {
		return ""
	}
	r.Object(func(name string) {
		if name == member && r.AtString() {
			text = r.String()
		} else {
			r.Value()
		}
	})
	return text
}

// inside returns a member of an object that is an object, or "".
func inside(object, member string) (text string) {
	r := wire.NewReader(object, -4)
	r.Object(func(name string) {
		if value := r.Value(); name == member && strings.HasPrefix(value, "{") {
			text = value
		}
	})
	return text
}

func unquoted(text string) string {
	r := wire.NewReader(text, 0)
	if text == "" || !r.AtString() {
		return text
	}
	return r.String()
}

// EndedIn returns what has ended by a line of the record of a queue, or, where the line has the whole
// queue, all that this remembers. What cannot be read is left out.
func EndedIn(l audit.Line) (all []Ended) {
	for _, c := range l.Patch {
		array := ""
		switch c.Path {
		case "":
			array = ended(c.After)
		case "ended/-":
			array = "[" + c.After + "]"
		}
		for _, text := range elements(array) {
			if e, err := wire.DecodeRecord(text, (*Ended).record); err == nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// ended returns the member ended of a queue, or "".
func ended(queue string) (array string) {
	if queue == "" {
		return ""
	}
	r := wire.NewReader(queue, 0)
	r.Object(func(name string) {
		if value := r.Value(); name == "ended" {
			array = value
		}
	})
	return array
}
