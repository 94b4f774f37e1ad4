package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

// QueueTroubles returns what is wrong with q, and who waits for an answer.
func QueueTroubles(q model.Queue) (all []Trouble) {
	for _, h := range q.Halts {
		all = append(all, Trouble{Rank: ByHalt, Mood: "warn", What: Halt(q, h),
			Cures: []Cure{resume(q, h)}})
	}

	_, blocked := stuckTasks(q)
	if t, any := DeadTasks(q); any {
		all = append(all, t)
	}
	if len(blocked) > 0 {
		all = append(all, blockedTrouble(q, blocked))
	}
	if ended := endedClaims(q); len(ended) > 0 {
		all = append(all, Trouble{Rank: ByDeath, Mood: "bad",
			What:  "nobody has found yet that these attempts have ended: " + Some(ended),
			Cures: []Cure{{"dpl-cleanup", "gives the tasks back"}}})
	}

	for _, t := range q.Questions() {
		all = append(all, Trouble{Rank: ByAsking, Mood: "warn", Cures: answers(q, t),
			What:  fmt.Sprintf("%s %s%s:", AskedBy(t), asks(t.Ask.Kind), leftFor(q, t)),
			Quote: strings.Split(t.Ask.Text, "\n")})
	}
	return all
}

// asks says what an asker does.
func asks(kind queue.AskKind) string {
	if kind == queue.AskPermission {
		return "asks for permission"
	}
	return "asks"
}

// leftFor says how much time there is to answer t, if that is limited.
func leftFor(q model.Queue, t *queue.Task) string {
	if t.Expiry().For == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s left)",
		Span(t.Expiry().Left(q.Seen.Observation).Truncate(time.Second)))
}

// resume returns the command that lifts h.
func resume(q model.Queue, h queue.Halt) Cure {
	words := []string{"dpl-queue", q.ID, "--resume"}
	switch {
	case h.Reason == queue.HaltOpenGoal:
		return Cure{Command(append(words, "--goal-done")...), "says that the goal is reached"}
	case !h.Automatic && h.By != queue.Operator:
		words = append(words, "--as", h.By)
	}
	return Cure{Command(words...), "lets tasks be claimed again"}
}

// stuckTasks returns the tasks that are dead, and those that are blocked by no question.
func stuckTasks(q model.Queue) (dead, blocked []queue.Place) {
	for _, s := range q.Stuck() {
		switch {
		case s.State == queue.Dead:
			dead = append(dead, s)
		case s.Question == "":
			blocked = append(blocked, s)
		}
	}
	return dead, blocked
}

// DeadTasks returns the trouble that q has dead tasks, if it has any.
func DeadTasks(q model.Queue) (t Trouble, any bool) {
	dead, _ := stuckTasks(q)
	if len(dead) == 0 {
		return t, false
	}
	t = Trouble{Rank: ByDeath, Mood: "bad", What: Plural(len(dead), "dead task") + ": " +
		someTasks(dead, func(p queue.Place) string { return p.Last.Reason })}
	if len(dead) == 1 {
		t.Cures = []Cure{{Command("dpl-enqueue", q.ID, "--again", dead[0].ID), "tries it again"}}
	} else {
		t.Cures = []Cure{{Command("dpl-enqueue", q.ID, "--dead"), "tries all of them again"}}
	}
	t.More = []Cure{{Command("dpl-status", "--queue", q.ID, "--why", dead[0].ID),
		"shows how " + dead[0].ID + " was tried"}}
	return t, true
}

func blockedTrouble(q model.Queue, blocked []queue.Place) Trouble {
	t := Trouble{Rank: ByBlock, Mood: "warn", What: Plural(len(blocked), "blocked task") + ": " +
		someTasks(blocked, func(p queue.Place) string { return p.Reason })}
	const most = 3 // have a command
	for _, b := range blocked[:min(len(blocked), most)] {
		t.Cures = append(t.Cures, Cure{Command("dpl-enqueue", q.ID, "--again", b.ID),
			"lets " + b.ID + " be claimed again"})
	}
	return t
}

// someTasks names tasks, with the reason that they have.
func someTasks(tasks []queue.Place, reason func(queue.Place) string) string {
	var names []string
	for _, t := range tasks {
		name := t.ID
		if why := reason(t); why != "" {
			name += " (" + why + ")"
		}
		names = append(names, name)
	}
	return Some(names)
}

// endedClaims returns the tasks of q whose attempt is over, although the file does not say so yet.
func endedClaims(q model.Queue) (all []string) {
	for _, c := range q.Claims() {
		if v := c.Verdict(); v != "alive" {
			all = append(all, fmt.Sprintf("%s (%s)", c.ID, v))
		}
	}
	return all
}

// answers returns the commands that answer the question t, as the page shows it. What it shows only
// a part of, is to be seen first.
func answers(q model.Queue, t *queue.Task) (all []Cure) {
	begin := []string{"dpl-answer", t.ID}
	if _, name, personal := strings.Cut(q.ID, "."); personal {
		begin = append(begin, "--to", name)
	}
	with := func(words ...string) string {
		return Command(append(append([]string{}, begin...), words...)...)
	}
	show, deny := Cure{with(), "shows all that is asked for"}, Cure{with("--deny"), "denies it"}
	spec, whole := t.Listed()
	if !whole {
		return []Cure{show, deny}
	}

	begin = append(begin, "--shown", t.Shown(q.ID).Hash())
	if t.Ask.Kind == queue.AskPermission {
		return []Cure{show, {with("--allow"), "gives the permission"}, deny}
	}
	const most = 5
	choices := spec.Choices
	for i, choice := range choices[:min(len(choices), most)] {
		if strings.HasPrefix(choice, "-") || choice != harmless.Text(choice) {
			choice = strconv.Itoa(i + 1) // it would be taken for a flag, or is not what is drawn
		}
		all = append(all, Cure{with(choice), "answers"})
	}
	if len(choices) == 0 {
		all = append(all, Cure{with("your answer"), "answers"})
	}
	return append(all, deny)
}
