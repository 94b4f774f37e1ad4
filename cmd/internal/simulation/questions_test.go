package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// askID is the queue of questions of all histories.
const askID = "ask"

// questions is the truth about the questions.
type questions struct {
	said map[string][]queue.TaskEnd // what somebody has tried to say to each
	told map[string]queue.TaskEnd   // how each was decided, as a command has said that ended well
}

func newQuestions() questions {
	return questions{said: map[string][]queue.TaskEnd{}, told: map[string]queue.TaskEnd{}}
}

// asking asks, and waits for the answers, unless it dies meanwhile.
func asking(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			w.calls++
			ask := queue.Question{Nonce: strings.Repeat("0", 32), Kind: queue.AskPermission, Text: "?", Spec: "{}", Scope: "process " + a.name,
				Key: strconv.Itoa(w.calls), Expires: time.Duration(w.pick3(3000, 1, 20000)) * time.Millisecond,
				Asker: queue.Asker{Participant: a.name, PID: a.p.PID, Process: a.p.Process}}
			id := ""
			for range 4 {
				if !unsure(a.editOf(askID, "ask", fileops.OrCreate,
					func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
						ask.ID = fmt.Sprint("q", q.LastSeq+1)
						after, id, err = q.Ask(ask, seen)
						return after, err
					})) {
					break
				}
				a.sleep(w.between(0, 300))
			}

			for range 5 {
				a.sleep(w.pick3(300, 0, 2500))
				if w.chance(8) {
					w.tell("%s crashes", a.name)
					return
				}
				if a.hears(id) {
					break
				}
			}
		}
	}
}

// hears looks whether the question id has ended, and makes the edit that this takes.
func (a *actor) hears(id string) bool {
	var ended queue.Ended
	status := a.editOf(askID, "hear", fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			after, err := q.Pass(seen)
			ended, _ = after.EndedTask(id)
			return after, err
		})
	if status != cli.StatusOK || ended.ID == "" {
		return false
	}
	if ended.End.Decided() && !slices.Contains(a.w.queued.said[id], ended.End) {
		a.w.fail("%s hears that %s is %s, which nobody has said", a.name, id, ended.End)
	}
	a.w.hear(id, ended.End)
	return true
}

// hear notes that a command has said how the question id has ended.
func (w *world) hear(id string, end queue.TaskEnd) {
	if old, known := w.queued.told[id]; known && old != end {
		w.fail("%s is %s, and was %s", id, end, old)
	}
	if end.Decided() {
		w.queued.told[id] = end
	}
}

// answering answers whatever is open.
func answering(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			a.sleep(w.pick3(300, 0, 1000))
			which, end := w.between(0, 3), queue.EndedAllowed
			if w.chance(2) {
				end = queue.EndedDenied
			}
			id := ""
			status := a.editOf(askID, "answer", fileops.Existing,
				func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
					if id = ""; len(q.Tasks) == 0 {
						return q.Pass(seen)
					}
					id = q.Tasks[which%len(q.Tasks)].ID
					w.queued.said[id] = append(w.queued.said[id], end)
					return q.Answer(id, queue.Answer{End: end, By: "ada",
						Shown: q.Tasks[which%len(q.Tasks)].Shown(q.ID).Hash()}, seen)
				})
			if status == cli.StatusOK && id != "" {
				w.hear(id, end)
			}
		}
	}
}

// judgeAskers finds askers of t who were dead when the edit that leaves them began.
func (w *world) judgeAskers(name string, t *queue.Task, dead map[observe.Process]bool) {
	if t.Ask == nil {
		return
	}
	for _, asker := range t.Ask.Askers {
		if dead[asker.Process] {
			w.fail("%s leaves %s open for %d, who was dead", name, t.ID, asker.PID)
		}
	}
}

// judgeQuestion returns what is wrong with what became of the question b: it is a, or has ended in
// after.
func (w *world) judgeQuestion(b, a *queue.Task, after queue.Queue) error {
	if a != nil && a.Seq == b.Seq {
		return nil
	}
	e, ok := after.EndedTask(b.ID)
	if !ok {
		return fmt.Errorf("%s is lost", b.ID)
	}
	if e.End != queue.EndedWithdrawn {
		return nil
	}
	for _, asker := range b.Ask.Askers {
		if w.lives(asker.Process) {
			return fmt.Errorf("%s is withdrawn, and %d lives, who asks it", b.ID, asker.PID)
		}
	}
	return nil
}

// endQuestions waits until all questions have ended, and checks that each has ended once.
func (w *world) endQuestions() {
	l := w.operation("queue " + askID)
	if l.acked == nil || w.wrong != nil {
		return
	}

	open := ""
	for n := range 20 * len(w.hosts) {
		w.now += 3_700_000 + w.setBack
		w.calmlyOn(w.hosts[n%len(w.hosts)], func(a *actor) {
			a.editOf(askID, "tick", fileops.Existing,
				func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
					after, err = q.Pass(seen)
					if open = ""; len(after.Tasks) > 0 {
						open = after.Encode()
					}
					return after, err
				})
			a.p.kill()
		})
		if open == "" || w.wrong != nil {
			break
		}
	}
	if open != "" {
		w.fail("questions are open for ever: %s", open)
	}
	w.calmly(w.checkQuestions)
}

func (w *world) checkQuestions(a *actor) {
	a.command("status", false, func(c *command) error {
		q, err := c.ledger.ReadQueue(askID)
		if err != nil {
			return err
		}
		w.operation("queue "+askID).readsQueue(c, q)
		if n := q.Counters.Ended(); q.Counters.Enqueued != n || int64(len(q.Ended)) != n {
			w.fail("%d questions were asked, and %d have ended", q.Counters.Enqueued, n)
		}
		for id, end := range w.queued.told {
			if e, ok := c.ledger.EndedTask(q, id); !ok || e.End != end {
				w.fail("%s was said to be %s, and is %+v", id, end, e)
			}
		}
		return nil
	})
}
