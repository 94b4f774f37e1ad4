package metrics

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

func queueLabels(q model.Queue) []string { return []string{"queue", q.ID} }

func queueMetrics() []metric[model.Queue] {
	type que = model.Queue
	return []metric[que]{
		{family{"dpl_queue_state", gauge, "1 for the state of the queue, 0 for the others."},
			states(que.State, queue.Running, queue.Halted, queue.Completed)},
		{family{"dpl_queue_tasks", gauge, "Tasks that have not ended, by state."}, tasks},
		{family{"dpl_queue_oldest_ready_age_seconds", gauge,
			"How long ago the oldest ready task was enqueued; absent if none is ready."},
			known(oldestReady)},
		{family{"dpl_queue_oldest_waiting_age_seconds", gauge,
			"How long ago the oldest task was enqueued that waits, ready or not."},
			known(func(q que) (float64, bool) {
				age, any := q.OldestWait()
				return seconds(age), any
			})},
		{family{"dpl_queue_halts", gauge, "Halts that keep tasks from being claimed."},
			value(func(q que) float64 { return float64(len(q.Halts)) })},
		{family{"dpl_queue_enqueued_total", counter, "Tasks that were enqueued."},
			value(func(q que) float64 { return float64(q.Counters.Enqueued) })},
		{family{"dpl_queue_ended_total", counter, "Tasks that have ended, by how."}, ended},
		{family{"dpl_queue_died_total", counter, "How often a task had used up its attempts."},
			value(func(q que) float64 { return float64(q.Counters.Dead) })},
		{family{"dpl_queue_claims_total", counter, "Claims of tasks."},
			value(func(q que) float64 { return float64(q.Counters.Claimed) })},
		{family{"dpl_queue_attempts_total", counter, "Attempts at tasks that are over, by outcome."},
			attempts},
		{family{"dpl_queue_wait_seconds", summary, "From enqueuing a task until its first claim."},
			func(q que) []sample {
				return []sample{{suffix: "_sum", value: seconds(q.Counters.Waited)},
					{suffix: "_count", value: float64(q.Counters.FirstClaims)}}
			}},
		{family{"dpl_queue_attempt_seconds", summary, "From the claim of a task until it was settled."},
			func(q que) []sample {
				return []sample{{suffix: "_sum", value: seconds(q.Counters.Ran)},
					{suffix: "_count", value: float64(q.Counters.Settled())}}
			}},
	}
}

// tasks counts tasks by state. Of those that wait, some are ready, some are put off, and the others
// are held by a halt, another task, or a limit.
func tasks(q model.Queue) []sample {
	c, delayed := q.Count(), 0
	for _, p := range q.Places {
		if p.State == queue.Waiting && slices.ContainsFunc(p.Holds, putOff) {
			delayed++
		}
	}

	of := func(state string, n int) sample { return one(float64(n), "state", state) }
	return []sample{of("ready", c.Ready), of("delayed", delayed),
		of("held", c.Waiting-c.Ready-delayed), of("claimed", c.Claimed), of("blocked", c.Blocked),
		of("dead", c.Dead), of("open", c.Open)}
}

func putOff(h queue.Hold) bool { return h.Kind == queue.HeldByTime || h.Kind == queue.HeldByDelay }

// oldestReady returns how long ago the oldest task was enqueued that is ready now.
func oldestReady(q model.Queue) (age float64, any bool) {
	for _, p := range q.Places {
		if p.Ready() {
			age, any = max(age, seconds(q.Seen.Now.Sub(p.EnqueuedAt))), true
		}
	}
	return age, any
}

func ended(q model.Queue) []sample {
	of := func(end queue.TaskEnd, n int64) sample { return one(float64(n), "end", string(end)) }
	c := q.Counters
	return []sample{of(queue.EndedDone, c.Done), of(queue.EndedCancelled, c.Cancelled),
		of(queue.EndedExpired, c.Expired)}
}

// attempts counts attempts by outcome. Outcomes that this version does not know are counted
// together: a file must not decide how many series there are.
func attempts(q model.Queue) (all []sample) {
	ends := []queue.End{queue.Done, queue.Failed, queue.Rejected, queue.TimedOut, queue.Silent,
		queue.Crashed, queue.NotStarted, queue.Rebooted, queue.Released, queue.TempFail,
		queue.Snoozed, queue.Asked, queue.Uncertain, queue.Cancelled, queue.Unclaimed}
	n, other := make([]int64, len(ends)), int64(0)

	for _, e := range q.Counters.Ends {
		if i := slices.Index(ends, e.End); i >= 0 {
			n[i] += e.Count
		} else {
			other += e.Count
		}
	}

	for i, end := range ends {
		all = append(all, one(float64(n[i]), "outcome", string(end)))
	}
	if other > 0 {
		all = append(all, one(float64(other), "outcome", "other"))
	}
	return all
}

// questionQueues returns the queues of questions.
func (s Subject) questionQueues() (all []model.Queue) {
	for _, q := range s.Queues {
		if queue.IsAskQueue(q.ID) {
			all = append(all, q)
		}
	}
	return all
}

func questionMetrics() []metric[model.Queue] {
	type que = model.Queue
	return []metric[que]{
		{family{"dpl_questions_open", gauge, "Questions that wait for an answer."},
			value(func(q que) float64 { return float64(len(q.Questions())) })},
		{family{"dpl_questions_oldest_age_seconds", gauge,
			"How long ago the oldest open question was asked; absent if none is open."},
			known(func(q que) (float64, bool) {
				all := q.Questions()
				if len(all) == 0 {
					return 0, false
				}
				return seconds(q.Seen.Now.Sub(all[0].EnqueuedAt)), true
			})},
		{family{"dpl_questions_decided_total", counter, "Questions that have ended, by how."},
			func(q que) []sample {
				of := func(end queue.TaskEnd, n int64) sample {
					return one(float64(n), "end", string(end))
				}
				c := q.Counters
				return []sample{of(queue.EndedAllowed, c.Allowed), of(queue.EndedDenied, c.Denied),
					of(queue.EndedAnswered, c.Answered), of(queue.EndedTimedOut, c.TimedOut),
					of(queue.EndedWithdrawn, c.Withdrawn)}
			}},
	}
}
