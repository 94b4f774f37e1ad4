package simulation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// queueID is the queue of all histories.
const queueID = "q"

// queued is the truth about the queue.
type queued struct {
	given   []claimedTask    // in the order in which claimers were told
	working map[string]*proc // who does each task
	done    map[string]int64 // the epochs that have settled tasks as done, as their commands said
	questions
}

type claimedTask struct {
	task  string
	epoch int64
}

// queueProgram makes something run that uses the queue.
func (w *world) queueProgram(name string, h *host) {
	p := h.spawn(nil)
	switch w.r.IntN(11) {
	case 0, 1:
		w.start("producer-"+name, p, producing(w.between(1, 3)))
	case 2, 3, 4, 5:
		w.start("worker-"+name, p, working(w.between(1, 4)))
	case 6:
		w.start("operator-"+name, p, controlling(w.between(1, 3)))
	case 7:
		w.start("clerk-"+name, p, settlingLate(w.between(1, 3)))
	case 8, 9:
		w.start("asker-"+name, p, asking(w.between(1, 3)))
	case 10:
		w.start("person-"+name, p, answering(w.between(2, 6)))
	}
}

// unsure reports whether a command has to be repeated.
func unsure(status int) bool {
	return slices.Contains([]int{statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCreate,
		cli.StatusCommitted}, status)
}

// producing adds batches, each until it is certain.
func producing(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			var batch []queue.New
			for range w.between(1, 2) {
				w.calls++
				n := queue.New{ID: "t" + strconv.Itoa(w.calls), Spec: "{}", Priority: int64(w.between(0, 1))}
				if w.chance(3) {
					n.Spec = queue.Content(`{"text":"` + strings.Repeat(n.ID, 200) + `"}`)
				}
				if w.chance(3) {
					n.Group = "g"
				}
				batch = append(batch, n)
			}

			for range 4 {
				status := a.queueEdit("enqueue", fileops.OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
					return q.Enqueue(batch, seen)
				})
				if !unsure(status) {
					break
				}
				a.sleep(w.between(0, 300))
			}
			a.sleep(w.pick3(0, 300, 2500))
		}
	}
}

// working claims tasks and settles them, unless it dies meanwhile.
func working(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			mine, ok := a.claims()
			if !ok {
				a.sleep(w.pick3(300, 0, 2500))
				continue
			}

			if other := w.queued.working[mine.task]; other != nil && other != a.p && w.lives(other.Process) {
				w.fail("%s does %s, and so does %d", a.name, mine.task, other.PID)
			}
			w.queued.working[mine.task] = a.p
			a.sleep(w.pick3(100, 0, 2500))
			if w.chance(4) {
				w.tell("%s crashes", a.name)
				return
			}

			end := []queue.End{queue.Done, queue.Done, queue.Failed, queue.Released, queue.Asked}[w.r.IntN(5)]
			delete(w.queued.working, mine.task)
			for range 4 {
				if !unsure(a.settles(mine, end)) {
					break
				}
				a.sleep(w.between(0, 300))
			}
		}
	}
}

// claims claims a task. If its command was killed, it asks what it has.
func (a *actor) claims() (mine claimedTask, ok bool) {
	who := queue.Claimer{Participant: a.name, PID: a.p.PID, Process: a.p.Process}
	for range 4 {
		var t *queue.Task
		status := a.queueEdit("claim", fileops.Existing, func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			t = q.ClaimOf(who)
			if t != nil {
				return q, nil
			}
			after, t, err = q.Claim(who, "", seen)
			return after, err
		})
		if status == cli.StatusOK && t != nil {
			mine = claimedTask{t.ID, t.Claim.Epoch}
			for _, old := range a.w.queued.given {
				if old.epoch == mine.epoch && old.task != mine.task {
					a.w.fail("the epoch %d was given for %s and %s", mine.epoch, old.task, mine.task)
				}
			}
			a.w.queued.given = append(a.w.queued.given, mine)
			return mine, true
		}
		if !unsure(status) {
			return mine, false
		}
		a.sleep(a.w.between(0, 300))
	}
	return mine, false
}

// settles is dpl-settle.
func (a *actor) settles(c claimedTask, end queue.End) int {
	w := a.w
	status := a.queueEdit("settle", fileops.Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		s := queue.Settlement{Task: c.task, Epoch: c.epoch, Outcome: queue.Outcome{End: end}}
		before := q.Task(c.task)
		if w.bug == bugOldEpoch && before != nil && before.Claim != nil {
			s.Epoch = before.Claim.Epoch
		}
		after, err := q.Settle(s, seen)
		if b := before; err == nil && b != nil && b.Claim != nil && b.Claim.Epoch != c.epoch {
			if t := after.Task(c.task); t == nil || t.Last.Epoch == b.Claim.Epoch && !t.Last.Judged {
				w.fail("the epoch %d has settled %s, whose epoch is %d", c.epoch, c.task, b.Claim.Epoch)
			}
		}
		return after, err
	})

	if status == cli.StatusOK && end == queue.Done {
		if old, twice := w.queued.done[c.task]; twice && old != c.epoch {
			w.fail("%s is done by %d, and by %d", c.task, old, c.epoch)
		}
		w.queued.done[c.task] = c.epoch
	}
	return status
}

// settlingLate settles attempts of others that are over, or still go on after a while.
func settlingLate(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			a.sleep(w.pick3(300, 100, 2500))
			n := len(w.queued.given)
			if n == 0 {
				continue
			}
			old := w.queued.given[w.r.IntN(n)]
			if w.queued.working[old.task] == nil || old.epoch < w.lastEpoch(old.task) {
				a.settles(old, queue.Failed)
			}
		}
	}
}

// lastEpoch returns the last epoch that somebody was told for a task.
func (w *world) lastEpoch(task string) (last int64) {
	for _, c := range w.queued.given {
		if c.task == task {
			last = max(last, c.epoch)
		}
	}
	return last
}

// controlling halts and resumes the queue, redrives and cancels tasks.
func controlling(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			a.sleep(w.pick3(300, 100, 2500))
			var verb func(queue.Queue, queue.Seen) (queue.Queue, error)
			c := queue.Control{By: a.name, Halt: &queue.HaltRequest{Reason: "lunch", Now: w.chance(2)}}
			switch w.r.IntN(4) {
			case 0:
				verb = func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Control(c, seen) }
			case 1:
				verb = func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Redrive(nil, true, seen) }
			case 2:
				verb = queue.Queue.Pass
			case 3:
				task := "t" + strconv.Itoa(w.between(1, w.calls))
				verb = func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
					if t := q.Task(task); t != nil && t.State == queue.Claimed {
						return q.Pass(seen) // its claimer would go on
					}
					return q.Cancel([]string{task}, a.name, "", seen)
				}
			}
			a.queueEdit("control", fileops.Existing, verb)
			a.queueEdit("resume", fileops.Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Control(queue.Control{By: a.name, Resume: true}, seen)
			})
		}
	}
}

// queueEdit is an edit of the queue of tasks by a command, watched.
func (a *actor) queueEdit(name string, mode fileops.Mode,
	verb func(queue.Queue, queue.Seen) (queue.Queue, error)) int {
	return a.editOf(queueID, name, mode, verb)
}

// editOf is an edit of the queue id by a command, watched.
func (a *actor) editOf(id, name string, mode fileops.Mode,
	verb func(queue.Queue, queue.Seen) (queue.Queue, error)) int {
	w := a.w
	l := w.operation("queue " + id)
	return a.command(name, mode == fileops.OrCreate, func(c *command) error {
		var e *edit
		dead := a.p.host.dead()
		_, err := c.ledger.EditQueue(id, mode, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			parent := l.readsQueue(c, q)
			e = nil
			after, err := verb(q, seen)
			if w.bug == bugTail {
				after = toTheTail(q, after)
			}
			if err == nil && after.Revision != q.Revision {
				for _, t := range after.Tasks {
					if t.Claim != nil && dead[t.Claim.Process] {
						w.fail("%s leaves %s to %d, who was dead", name, t.ID, t.Claim.PID)
					}
					w.judgeAskers(name, t, dead)
				}
			}
			if err == nil && after.Revision != q.Revision {
				after.Unknown = tag(len(l.edits))
				e = &edit{tag: len(l.edits), rev: after.Revision, parent: parent, by: by{a.name, name},
					wrong: w.judgeQueue(q, after)}
				l.edits = append(l.edits, e)
			}
			w.bug.early(c, l, e)
			return after, err
		})
		l.ends(c, e, false, false, err)
		return err
	})
}

// dead returns the processes of this boot of h that are dead.
func (h *host) dead() map[observe.Process]bool {
	all := map[observe.Process]bool{}
	for _, p := range h.procs {
		if p.dead {
			all[p.Process] = true
		}
	}
	return all
}

// readsQueue is what a verb is given.
func (l *ledger) readsQueue(c *command, q queue.Queue) *edit {
	w := c.w
	floor := l.acked
	if w.kind.lease {
		floor = nil // as in reads
	}
	if q.Revision == 0 {
		if floor != nil {
			w.fail("%s finds no queue, but revision %d of %s was acknowledged", c.a.name, floor.rev, floor.by)
		}
		return nil
	}

	var e *edit
	if len(q.Unknown) == 1 {
		if n, err := strconv.Atoi(q.Unknown[0].Value); err == nil && n < len(l.edits) {
			e = l.edits[n]
		}
	}
	switch {
	case e == nil || e.rev != q.Revision:
		w.fail("nobody has written revision %d of the queue", q.Revision)
		return nil
	case e.void && !w.kind.lease:
		w.fail("there is revision %d of %s, who said that nothing was changed", e.rev, e.by)
	case floor != nil && !e.has(floor):
		w.fail("revision %d of %s was acknowledged and is lost: there is revision %d of %s", floor.rev,
			floor.by, e.rev, e.by)
	}
	e.isMade(w)

	for _, t := range q.Tasks {
		if w.calm || !w.chance(8) {
			continue
		}
		if _, err := c.ledger.ReadSpec(q.ID, t); err != nil && !w.faulted && !c.hit() {
			w.fail("the spec of %s: %w", t.ID, err)
		}
	}
	return e
}

// hit reports whether the fault of c has come.
func (c *command) hit() bool { return c.fs.Fault.At > 0 && c.fs.Calls >= c.fs.Fault.At }

// judgeQueue returns what is wrong with an edit: whom it finds dead, and where tasks go.
func (w *world) judgeQueue(before, after queue.Queue) (wrong error) {
	for _, b := range before.Tasks {
		a := after.Task(b.ID)
		if b.Ask != nil {
			if err := w.judgeQuestion(b, a, after); err != nil {
				return err
			}
			continue
		}
		if a == nil {
			if _, ended := after.EndedTask(b.ID); !ended {
				return fmt.Errorf("%s is lost", b.ID)
			}
			continue
		}
		if a.Seq != b.Seq {
			return fmt.Errorf("%s was the %dth, and is the %dth", a.ID, b.Seq, a.Seq)
		}

		claim := b.Claim
		over := claim != nil && (a.Claim == nil || a.Claim.Epoch != claim.Epoch)
		switch {
		case over && a.Last.Epoch != claim.Epoch:
			return fmt.Errorf("the attempt %d of %s has no end", claim.Epoch, b.ID)
		case over && a.Last.Judged && w.lives(claim.Process):
			return fmt.Errorf("the attempt %d of %s is found to be over, and %d lives", claim.Epoch, b.ID,
				claim.PID)
		}
		if a.Claim != nil && (claim == nil || over) {
			for _, other := range after.Tasks {
				if other.ID != a.ID && a.Group != "" && other.Group == a.Group &&
					(other.Claim != nil || other.Seq < a.Seq) {
					return fmt.Errorf("%s was claimed before %s of its group", a.ID, other.ID)
				}
			}
		}
	}
	return nil
}

// toTheTail puts the tasks that have come back behind all others.
func toTheTail(before, after queue.Queue) queue.Queue {
	for i, t := range after.Tasks {
		if b := before.Task(t.ID); b != nil && b.Claim != nil && t.Claim == nil && i < len(after.Tasks)-1 {
			again := *t
			after.LastSeq++
			again.Seq = after.LastSeq
			after.Tasks = append(slices.Delete(slices.Clone(after.Tasks), i, i+1), &again)
			return after
		}
	}
	return after
}

// endQueues has somebody do all tasks that are left, and checks that each has ended once.
func (w *world) endQueues() {
	l := w.operation("queue " + queueID)
	if l.acked == nil {
		return
	}

	empty, left := false, ""
	for n := range 400 {
		if w.wrong != nil || empty {
			break
		}
		w.now += 400_000                                     // longer than any backoff
		w.calmlyOn(w.hosts[n%len(w.hosts)], func(a *actor) { // only its own host knows who is dead
			a.queueEdit("redrive", fileops.Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				if id := w.stays(q); id != "" && n > 20 {
					return q.Cancel([]string{id}, a.name, "", seen)
				}
				if len(q.Halts) > 0 {
					return q.Control(queue.Control{By: q.Halts[0].By, Resume: true}, seen)
				}
				var ids []string
				for _, t := range q.Tasks {
					if t.State == queue.Blocked || t.State == queue.Dead {
						ids = append(ids, t.ID)
					}
				}
				empty, left = len(q.Tasks) == 0, q.Encode()
				return q.Redrive(ids, false, seen)
			})
			if mine, ok := a.claims(); ok {
				a.settles(mine, queue.Done)
			}
			a.p.kill()
		})
	}
	if w.wrong == nil && !empty {
		w.fail("the queue does not become empty: %s", left)
	}
	w.calmly(w.checkQueue)
}

// stays returns a claimed task that nobody will find to be over: its host has been rebooted with a
// clock that was set back (spec/reliability.md, 3). An operator has to cancel it.
func (w *world) stays(q queue.Queue) string {
	for _, t := range q.Tasks {
		for _, h := range w.hosts {
			if c := t.Claim; c != nil && c.Process.HostID == h.id && c.Process.BootID != h.bootID() &&
				!c.At.Before(h.observe().Host.BootedAt) {
				return t.ID
			}
		}
	}
	return ""
}

func (w *world) checkQueue(a *actor) {
	a.command("status", false, func(c *command) error {
		q, err := c.ledger.ReadQueue(queueID)
		if errors.Is(err, queue.ErrNoQueue) {
			w.fail("the queue is lost")
		}
		if err != nil {
			return err
		}

		c.w.operation("queue "+queueID).readsQueue(c, q)
		n := q.Counters.Done + q.Counters.Cancelled + q.Counters.Expired
		if int64(len(q.Ended)) != n || q.Counters.Enqueued != n {
			w.fail("%d tasks were added, %d have ended, %d are there", q.Counters.Enqueued, n, len(q.Ended))
		}
		for task, epoch := range w.queued.done {
			if e, ok := q.EndedTask(task); !ok || e.End != queue.EndedDone || e.Last.Epoch != epoch {
				w.fail("%s was settled as done by %d, and is %+v", task, epoch, e)
			}
		}
		return nil
	})
}
