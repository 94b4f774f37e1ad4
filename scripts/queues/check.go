//go:build linux

package queues

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// drain has workers do all that is left, with commands that do not fail any more, and checks that
// they do all of it.
func (w *world) drain() {
	if err := os.WriteFile(filepath.Join(w.Base, "calm"), nil, 0o600); err != nil {
		w.fault("%v", err)
	}

	for range 20 {
		for client := range w.Hosts { // each knows of its own dead
			w.run(client+1, 0, "", "dpl-queue", "q", "--resume")
		}
		w.read()
		var again []string
		for _, t := range w.latest().Tasks {
			if t.State == queue.Blocked || t.State == queue.Dead {
				again = append(again, "--again", t.ID)
			}
		}
		if again != nil {
			w.run(0, 0, "", append([]string{"dpl-enqueue", "q"}, again...)...)
		}

		for client := range w.Hosts {
			c := w.run(client+1, 0, "", "dpl-work", "q", "--until-done", "--jobs", "4")
			if c.status != 0 && c.status != 1 && !(w.Cuts && c.cutOff()) {
				w.fault("%v", c)
			}
		}
		w.read()
		if len(w.latest().Tasks) == 0 {
			return
		}
	}
	w.fault("20 rounds of workers have left %d tasks:\n%s", len(w.q.Tasks), w.q.Encode())
}

// check checks what must be so when all has ended.
func (w *world) check() {
	truth := w.history()
	ended := w.ended()
	w.checkEnqueued(ended)
	w.checkClaims()
	w.checkSettled(ended)
	w.checkCommands(ended, truth)
	if w.Linked {
		w.checkTruth(truth)
	}
}

// ended returns all tasks that have ended, by id, from the queue and the file of §36.2.
func (w *world) ended() map[string]queue.Ended {
	all := make(map[string]queue.Ended)
	text, err := os.ReadFile(filepath.Join(w.dir(), "queues", "q.ended.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		w.fault("%v", err)
	}

	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return l == "" })
	for i, l := range lines {
		e, err := queue.DecodeRemembered(l)
		if err != nil || !strings.Contains(l, fmt.Sprintf(`"seq":%d,`, i+1)) {
			w.fault("line %d of the ended tasks: %v: %s", i+1, err, l)
		}
		if _, twice := all[e.ID]; twice {
			w.fault("%s has ended twice, in the file", e.ID)
		}
		all[e.ID] = e
	}

	for _, e := range w.q.Ended {
		if _, twice := all[e.ID]; twice {
			w.fault("%s has ended twice", e.ID)
		}
		all[e.ID] = e
	}
	if n := int64(len(all)); n != w.q.Counters.Enqueued || n != endedTasks(w.q) {
		w.fault("%d tasks have ended, and were %d added: %d are counted", n, w.q.Counters.Enqueued,
			endedTasks(w.q))
	}
	return all
}

// checkEnqueued checks that all of a batch is there, and if its enqueue has not said so, all or
// none.
func (w *world) checkEnqueued(ended map[string]queue.Ended) {
	for _, c := range w.calls {
		ids, known := c.ids(), 0
		if c.args[0] != "dpl-enqueue" || c.status != 0 && !c.unknown() {
			continue
		}

		for _, id := range ids {
			if _, ok := ended[id]; ok {
				known++
			}
		}
		if known != len(ids) && (known > 0 || c.status == 0) {
			w.fault("%d of %d tasks are known: %v", known, len(ids), c)
		}
	}
}

// ids returns the tasks that an enqueue asks for.
func (c call) ids() (all []string) {
	for i, arg := range c.args {
		if arg == "--id" {
			all = append(all, c.args[i+1])
		}
	}
	for _, part := range strings.Split(c.in, `{"taskId":"`)[1:] {
		all = append(all, part[:strings.Index(part, `"`)])
	}
	return all
}

// checkClaims checks that no epoch is given twice, and that no task is claimed while an earlier
// claim may stand: until then its claimer was killed, or somebody has settled or cancelled it.
func (w *world) checkClaims() {
	claims := slices.SortedFunc(slices.Values(w.claims),
		func(a, b claimed) int { return cmp.Compare(a.epoch, b.epoch) })
	last := make(map[string]claimed)
	held := make(map[int]claimed)
	for i, c := range claims {
		if i > 0 && claims[i-1].epoch == c.epoch {
			w.fault("the epoch %d was given twice: %v, %v", c.epoch, claims[i-1], c)
		}
		if old, ok := last[c.task]; ok && !w.mayBeOver(old, c.to) {
			w.fault("%s was claimed by %v and by %v", c.task, old, c)
		}
		if old, ok := held[c.pid]; ok && !w.mayBeOver(old, c.to) {
			w.fault("%d has two tasks: %v, %v", c.pid, old, c)
		}
		last[c.task], held[c.pid] = c, c
	}

	if w.q.LastEpoch != w.q.Counters.Claimed {
		w.fault("%d claims, and the last epoch is %d", w.q.Counters.Claimed, w.q.LastEpoch)
	}
}

// mayBeOver reports whether c may have ended before a time.
func (w *world) mayBeOver(c claimed, before time.Duration) bool {
	dead := func(death span) bool { return c.from < death.to && death.from < before }
	if slices.ContainsFunc(w.killed[c.pid], dead) {
		return true
	}
	attempt := []string{"--task", c.task, "--epoch", strconv.FormatInt(c.epoch, 10)}
	for _, call := range w.calls {
		if call.from > before || call.status != 0 && !call.unknown() {
			continue
		}
		if len(call.args) > 5 && slices.Equal(call.args[2:6], attempt) ||
			slices.Equal(call.args[2:], []string{"--cancel", c.task}) {
			return true
		}
	}
	return false
}

// settlement returns what a call of dpl-settle has said.
func (c call) settlement() (task string, epoch int64, end queue.End, ok bool) {
	if c.args[0] != "dpl-settle" {
		return "", 0, "", false
	}
	epoch, _ = strconv.ParseInt(c.args[5], 10, 64)
	for of, flag := range ends {
		if c.args[6] == flag {
			end = of
		}
	}
	return c.args[3], epoch, end, true
}

// checkSettled checks that what was settled as done is done by that attempt, and no attempt was
// settled in two ways.
func (w *world) checkSettled(ended map[string]queue.Ended) {
	type attempt struct {
		task  string
		epoch int64
	}
	settled, given := make(map[attempt]queue.End), make(map[attempt]bool)
	for _, c := range w.claims {
		given[attempt{c.task, c.epoch}] = true
	}

	for _, c := range w.calls {
		task, epoch, end, ok := c.settlement()
		if !ok || c.status != 0 {
			continue
		}
		a := attempt{task, epoch}
		if other, twice := settled[a]; twice && other != end && !w.aborted() {
			w.fault("settled as %s, and now: %v", other, c)
		}
		settled[a] = end

		if e := ended[task]; end == queue.Done && (e.End != queue.EndedDone || e.Last.Epoch != epoch) {
			w.fault("%s is %s by %v: %v", task, e.End, e.Last, c)
		}
		if epoch > w.q.LastEpoch || end == queue.Done && !given[a] && ended[task].Last.Epoch != epoch {
			w.fault("an attempt that never was: %v", c)
		}
	}
}

// aborted reports whether somebody has halted the queue with --abort. Then a failure may be a
// release.
func (w *world) aborted() bool {
	return slices.ContainsFunc(w.calls, func(c call) bool { return slices.Contains(c.args, "--abort") })
}

// checkCommands checks that no two attempts at a task have run at a time, none was begun twice, and
// what is done by dpl-work was done.
func (w *world) checkCommands(ended map[string]queue.Ended, truth map[int64]*attempt) {
	begun, done := make(map[int64]line), make(map[int64]bool)
	for _, l := range w.log() {
		switch l.word {
		case "overlap":
			if !w.cutOff(truth, l) {
				w.fault("two attempts at %s ran at a time, the later is %d", l.task, l.epoch)
			}
		case "begin":
			if old, twice := begun[l.epoch]; twice {
				w.fault("the attempt %d was begun for %v and %v", l.epoch, old, l)
			}
			begun[l.epoch] = l
		case "end":
			done[l.epoch] = true
		}
	}

	for _, c := range w.claims {
		if l, ok := begun[c.epoch]; ok {
			w.fault("%v was also begun by dpl-work: %v", c, l)
		}
	}
	for _, e := range ended {
		l, ran := begun[e.Last.Epoch]
		if ran && e.End == queue.EndedDone && (!done[e.Last.Epoch] || l.task != e.ID) {
			w.fault("%s is done by %d, whose command did not get so far", e.ID, e.Last.Epoch)
		}
	}
}

// An attempt is what the revisions say about a claim.
type attempt struct {
	task        string
	participant string
	pid         int
	own         bool
	stop        queue.End // that was asked of it
	last        queue.Attempt
	superseded  bool // the task had another attempt
}

// history checks that each revision follows from the one before, and returns the attempts by epoch.
func (w *world) history() map[int64]*attempt {
	all, truth := w.revisions(), make(map[int64]*attempt)
	for _, n := range slices.Sorted(maps.Keys(all)) {
		before, ok := all[n-1]
		if !ok {
			continue
		}
		w.faults = append(w.faults, step(before, all[n])...)
		note(truth, before, all[n])
	}
	if w.Linked && int64(len(all)) != w.q.Revision {
		w.fault("%d of %d revisions are there", len(all), w.q.Revision)
	}
	return truth
}

// note notes which attempts have begun and ended between two revisions.
func note(truth map[int64]*attempt, before, after queue.Queue) {
	for _, t := range after.Tasks {
		if c := t.Claim; c != nil {
			if truth[c.Epoch] == nil {
				if old := truth[t.Last.Epoch]; old != nil {
					old.superseded = true
				}
				truth[c.Epoch] = &attempt{task: t.ID, participant: c.Participant, pid: c.PID,
					own: after.IsAttempt(t)}
			}
			truth[c.Epoch].stop = c.Stop
		}
		if a := truth[t.Last.Epoch]; a != nil {
			a.last = t.Last
		}
	}
	for _, e := range after.Ended {
		if a := truth[e.Last.Epoch]; a != nil {
			a.last = e.Last
		}
	}
}

// checkTruth compares what commands said with what the revisions say.
func (w *world) checkTruth(truth map[int64]*attempt) {
	for epoch := int64(1); epoch <= w.q.LastEpoch; epoch++ {
		a := truth[epoch]
		if a == nil || a.last.Epoch != epoch {
			w.fault("the attempt %d is not there, or never over: %+v", epoch, a)
			return
		}
		if _, died := w.killed[a.pid]; a.last.End == queue.Crashed && a.last.Judged && !a.own && !died {
			w.fault("the attempt %d was found to be crashed, but nobody has killed %d", epoch, a.pid)
		}
		if a.own && w.shared() && a.last.Judged && a.last.End == queue.Crashed && !w.hit[epoch] && !w.Cuts {
			w.fault("the attempt %d was found to be dead (%s), but nobody has killed it", epoch, a.last.Reason)
		}
		if a.last.End == queue.NotStarted {
			w.fault("the attempt %d could not be started: %+v", epoch, a)
		}
	}

	printed := make(map[int64]bool)
	for _, c := range w.claims {
		a := truth[c.epoch]
		printed[c.epoch] = true
		if a == nil || a.task != c.task || a.pid != c.pid {
			w.fault("dpl-claim has printed %v, which is %+v", c, a)
		}
	}
	for epoch, a := range truth {
		if !a.own && !printed[epoch] && !w.untold() {
			w.fault("nobody was told of the attempt %d: %+v", epoch, a)
		}
	}

	for _, c := range w.calls {
		if task, epoch, end, ok := c.settlement(); ok {
			w.checkStatus(c, truth[epoch], task, end)
		}
	}
}

// checkStatus checks the status of a settlement of the attempt a, which is nil if it never was.
func (w *world) checkStatus(c call, a *attempt, task string, end queue.End) {
	fits := c.unknown() || c.again()
	switch c.status {
	case 0: // it was settled so, or would have been without a halt
		fits = a != nil && a.task == task && !a.last.Judged && (a.last.End == end ||
			a.stop == queue.Released && end == queue.Failed && a.last.End == queue.Released)
	case 5: // it never was, others have found it over, or the task had another attempt
		fits = a == nil || a.task != task || a.last.Judged || a.superseded
	case 66:
		fits = task == "unknown"
	case 76:
		fits = a != nil && a.task == task && !a.last.Judged && a.last.End != end
	}
	if !fits {
		w.fault("%v: the attempt was %+v", c, a)
	}
}
