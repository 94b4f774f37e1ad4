//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/queue"
)

// Names of the works of the section queues. To take a task is to claim it, and to settle it as
// done.
const (
	enqueue = "enqueue"
	take    = "take"
)

// remembered is how many tasks of each of our queues have ended before.
const remembered = 1000

// A pool is where tasks wait, in a queue of ours or with a peer. Its commands depend on how often
// they have been run before.
type pool struct {
	enqueue func(n int) []string
	take    func(n int) [][]string // nil: it does its tasks itself
	loop    string                 // a script that takes all tasks, and does true for each
	undo    func() error           // in place of take: removes the task that was added last
	by      *starter               // nil: that of the benchmark
	check   func(left int) error   // that so many tasks are left; nil: it cannot tell
	close   func()                 // nil: nothing to do
}

// A pooler makes pools.
type pooler struct {
	who  string
	most int // tasks that can wait, each of which has a process; 0: any number
	open func(b *bench, place string, waiting int) (*pool, error)
}

// poolers are ours and all peers that are there.
func (b *bench) poolers() []pooler {
	t := &b.tools
	all := []pooler{{"dpl", 0, (*bench).ourPool}}
	if t.beanstalk != "" {
		all = append(all, pooler{"beanstalkd", 0, (*bench).beanstalkPool})
	}
	if t.sqlite != "" {
		all = append(all,
			pooler{"sqlite-journal", 0, func(b *bench, place string, n int) (*pool, error) {
				return b.sqlitePool(place, n, "DELETE")
			}},
			pooler{"sqlite-wal", 0, func(b *bench, place string, n int) (*pool, error) {
				return b.sqlitePool(place, n, "WAL")
			}})
	}
	if t.redisSocket != "" {
		all = append(all, pooler{"redis", 0, (*bench).redisPool})
	}
	if t.tsp != "" {
		all = append(all, pooler{"tsp", 500, (*bench).tspPool})
	}
	if t.nq != "" {
		all = append(all, pooler{"nq", 100, (*bench).nqPool})
	}
	return all
}

// timeQueues times the addition of a task, and its claim together with its settlement, while
// others wait.
func (b *bench) timeQueues() (err error) {
	turns := []turn{alone("queues/null", []string{b.tools.null})}
	checks := make(map[string]func() error)
	for _, n := range b.plan.waiting {
		for _, from := range b.poolers() {
			if from.most > 0 && n > from.most {
				continue
			}
			place := fmt.Sprintf("queue-%d-%s", n, from.who)
			p, err := from.open(b, place, n)
			if p != nil && p.close != nil {
				defer p.close()
			}
			if err != nil {
				return fmt.Errorf("%s: %w", from.who, err)
			}

			turns = append(turns, p.turn(n, from.who))
			if p.check != nil {
				checks[place] = func() error { return p.check(n) }
			}
		}
	}

	if err := b.race(turns, b.plan.rounds); err != nil {
		return err
	}
	for place, check := range checks {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}

	for _, n := range b.plan.waiting {
		b.printTimes(fmt.Sprintf("enqueue, %d tasks waiting", n), "queues/null",
			fmt.Sprintf("%s/%d/", enqueue, n))
		b.printTimes(fmt.Sprintf("claim and settle, %d tasks waiting", n), "queues/null",
			fmt.Sprintf("%s/%d/", take, n))
	}
	return nil
}

// turn returns the turn that adds a task and takes one, so that as many wait as before.
func (p *pool) turn(waiting int, who string) turn {
	added, taken := 0, 0
	adds := contestant{name: named(enqueue, waiting, who), by: p.by, steps: func() [][]string {
		added++
		return [][]string{p.enqueue(added)}
	}}
	if p.take == nil {
		adds.ready = func() error {
			if added == 0 {
				return nil
			}
			return p.undo()
		}
		return turn{contestants: []contestant{adds}}
	}

	return turn{contestants: []contestant{adds, {name: named(take, waiting, who), by: p.by,
		steps: func() [][]string {
			taken++
			return p.take(taken)
		}}}}
}

// ourPool is a queue in which thousands of tasks have ended before: their ids are looked up for
// each task that is added.
func (b *bench) ourPool(place string, waiting int) (*pool, error) {
	ledger, err := b.newQueue(place, remembered, waiting)
	if err != nil {
		return nil, err
	}
	processes, err := b.live(1)
	if err != nil {
		return nil, err
	}

	argv := func(command string, more ...string) []string {
		return append([]string{b.command(command), "q", "--ledger", ledger}, more...)
	}
	claim := argv("dpl-claim", "--pid", strconv.Itoa(processes[0].Pid))
	return &pool{
		enqueue: func(n int) []string {
			return argv("dpl-enqueue", "--id", taskID(remembered+waiting+n), "--", "true")
		},
		take: func(n int) [][]string {
			return [][]string{claim, argv("dpl-settle", "--task", taskID(remembered+n), "--epoch",
				strconv.Itoa(remembered+n), "--done")}
		},
		loop: "while t=$(" + shell(argv("dpl-claim")) + " --pid $$); do true; " +
			shell(argv("dpl-settle")) + " --task ${t% *} --epoch ${t#* } --done; done",
		check: func(left int) error { return hasTasks(queueFile(ledger), left) },
	}, nil
}

// shell returns words for a shell. None has a quote in it.
func shell(argv []string) string { return "'" + strings.Join(argv, "' '") + "'" }

func taskID(n int) string { return fmt.Sprint("task-", n) }

func queueFile(ledger string) string { return filepath.Join(ledger, "queues", "q.json") }

// newQueue makes a ledger with a queue q in which some tasks wait and others have ended, as the
// commands make it, and returns the path of the ledger.
func (b *bench) newQueue(name string, ended, waiting int) (ledger string, err error) {
	if ledger, err = b.newLedger(name, "op"); err != nil {
		return "", err
	}
	_, err = b.prepare(b.command("dpl-queue"), "q", "--create", "--ledger", ledger)
	if err != nil {
		return "", err
	}

	text, past, err := b.queueText(ended, waiting)
	file := queueFile(ledger)
	return ledger, errors.Join(err, os.WriteFile(file, []byte(text), 0o600),
		os.WriteFile(strings.TrimSuffix(file, ".json")+".ended.jsonl", []byte(past), 0o600))
}

// queueText returns the file of a queue q, and that of the tasks that ended long ago.
func (b *bench) queueText(ended, waiting int) (text, past string, err error) {
	observed, err := b.here()
	if err != nil {
		return "", "", err
	}
	seen := queue.Seen{Observation: observed}
	spec := queue.Spec{Argv: []string{"true"}, Dir: b.work}.Content()
	add := func(q queue.Queue, first, count int) (queue.Queue, error) {
		batch := make([]queue.New, count)
		for i := range batch {
			batch[i] = queue.New{ID: taskID(first + i), Spec: spec}
		}
		return q.Enqueue(batch, seen)
	}

	q, err := add(queue.Create("q"), 1, ended)
	var lines strings.Builder
	for range ended {
		if err == nil {
			var t *queue.Task
			who := queue.Claimer{Participant: "worker", PID: os.Getpid()}
			if q, t, err = q.Claim(who, "", seen); err == nil {
				q, err = q.Settle(queue.Settlement{Task: t.ID, Epoch: t.Claim.Epoch,
					Outcome: queue.Outcome{End: queue.Done}}, seen)
			}
			for _, r := range q.Effects().Remember {
				lines.WriteString(r.Line() + "\n")
			}
		}
	}
	if err == nil {
		q, err = add(q, ended+1, waiting)
	}
	return q.Encode(), lines.String(), err
}

// hasTasks fails unless so many tasks wait in a queue, and no other is there. Otherwise something
// else was timed.
func hasTasks(file string, want int) error {
	q, err := readQueue(file)
	if err != nil {
		return err
	}

	waits := func(t *queue.Task) bool { return t.State == queue.Waiting }
	if got := len(q.Tasks); got != want || slices.ContainsFunc(q.Tasks,
		func(t *queue.Task) bool { return !waits(t) }) {
		return fmt.Errorf("%d tasks are left, not all waiting; want %d", got, want)
	}
	return nil
}
