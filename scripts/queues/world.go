//go:build linux

// Package queues uses a queue with many real processes at once, and judges what became of it
// (spec/queues.md). Its tests do that on a local disk:
//
//	TestCrowd      producers, claimers, workers and operators, of which some are killed with SIGKILL;
//	               then every task has ended once, and every revision follows from the one before
//	TestHistories  porcupine explains what concurrent commands said by a small model of a queue
//	TestSteps      bad edits, which the check of revisions must find
//	TestSeededBugs commands with a bug, which one of the two must find
//
// DPL_SEED=N repeats the plans of a run that has printed N. The order in which the system runs the
// processes differs each time. DPL_SOAK=1 runs 64 clients instead of 8, and longer.
package queues

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// A world is a queue, the processes that use it, and the record of what they have said.
type world struct {
	Place
	started time.Time
	ledger  *fileops.Ledger

	over     atomic.Bool
	revision atomic.Int64 // as last read

	mu      sync.Mutex // guards all below
	q       queue.Queue
	calls   []call
	ids     []string          // of tasks that somebody has asked for
	claims  []claimed         // that dpl-claim has printed
	killed  map[int][]span    // claimers, by their pid, and when they were killed
	hit     map[int64]bool    // attempts of dpl-work of which a process was killed
	workers map[int]*exec.Cmd // dpl-work --follow, by pid
	kills   map[string]int    // by what was killed
	faults  []string
	passed  map[int64]queue.Queue // the revisions that were read, unless the ledger keeps all
}

// A span is from when until when something happened, since the start.
type span struct{ from, to time.Duration }

// claimed is a claim that dpl-claim has printed.
type claimed struct {
	task  string
	epoch int64
	pid   int
	span
}

// A call is a command that has ended.
type call struct {
	client int
	args   []string
	in     string // its standard input
	span
	status int // -1: it was killed
	out    string
	err    string
}

func (c call) String() string {
	return fmt.Sprintf("%.3f-%.3f s, client %d: %s: %d %q %q", c.from.Seconds(), c.to.Seconds(), c.client,
		strings.Join(c.args, " "), c.status, c.out, c.err)
}

// newWorld makes a ledger with the queue q.
func newWorld(p Place, policy ...string) (*world, error) {
	if len(p.Hosts) == 0 {
		p.Hosts = []Host{{Ledger: filepath.Join(p.Base, "ledger")}}
	}
	w := &world{Place: p, started: time.Now(),
		killed: make(map[int][]span), hit: make(map[int64]bool), workers: make(map[int]*exec.Cmd),
		kills: make(map[string]int), passed: make(map[int64]queue.Queue)}

	args := append([]string{"dpl-queue", "q", "--create", "--backoff", "0s"}, policy...)
	if p.Linked {
		args = append(args, "--commit", "link")
	}
	if c := w.run(0, 0, "", args...); c.status != 0 {
		return nil, fmt.Errorf("no queue: %v", c)
	}

	var err error
	w.ledger, err = fileops.Open(w.dir(), fileops.Options{})
	return w, err
}

// rng returns the random numbers of a client.
func (w *world) rng(client int) *rand.Rand { return rand.New(rand.NewPCG(w.Seed, uint64(client))) }

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// command returns a command of a client that is ready to be started.
func (w *world) command(client int, args ...string) *exec.Cmd {
	h := w.host(client)
	argv := append(slices.Clone(h.Enter), filepath.Join(w.Bin, args[0]))
	argv = append(argv, args[1:]...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Base, "DPL_LEDGER=" + h.Ledger,
		"D=" + w.Base}, w.Env...)
	cmd.Dir = w.Base
	return cmd
}

// run runs a command, which is killed after kill unless that is 0, and records it. On a file system
// that hosts share, it repeats one that has changed nothing and may be repeated.
func (w *world) run(client int, kill time.Duration, in string, args ...string) call {
	c := w.try(client, kill, in, args...)
	for first := c.from; w.shared() && c.again(); c = w.try(client, kill, in, args...) {
		if c.to-first > hanging {
			w.fault("not done in %v: %v", hanging, c)
			return c
		}
		poll.Within(50*time.Millisecond, w.failed) // there may be no network
	}
	return c
}

// try runs a command once.
func (w *world) try(client int, kill time.Duration, in string, args ...string) call {
	cmd := w.command(client, args...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &complaint

	c := call{client: client, args: args, in: in}
	c.from = time.Since(w.started)
	if err := cmd.Start(); err != nil {
		w.fault("%v: %v", args, err)
		return c
	}
	if kill > 0 {
		timer := time.AfterFunc(kill, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	cmd.Wait()
	c.to, c.status = time.Since(w.started), cmd.ProcessState.ExitCode()
	c.out, c.err = strings.TrimSpace(out.String()), strings.TrimSpace(complaint.String())

	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if !w.expected(c, kill > 0) {
		w.faults = append(w.faults, "not to be expected: "+c.String())
	}
	return c
}

// await waits until the queue has more edits than now, or the test is over.
func (w *world) await(more int64) {
	from := w.revision.Load()
	poll.Within(2*time.Second, func() bool { return w.over.Load() || w.revision.Load() >= from+more })
}

// latest returns the queue as it was last read.
func (w *world) latest() queue.Queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.q
}

// read reads the queue once, and checks that it is not older than the last time, and that it is
// what edits can have made of that.
func (w *world) read() {
	q, err := w.ledger.ReadQueue("q")
	if err != nil {
		w.fault("a reader found: %v", err)
		return
	}

	before := w.latest()
	if q.Revision == before.Revision {
		return
	}
	if q.Revision < before.Revision {
		w.fault("a reader saw revision %d after %d", q.Revision, before.Revision)
	}

	for _, t := range q.Tasks {
		if _, _, inline := t.Content(); inline || before.Task(t.ID) != nil {
			continue
		}
		if _, err := w.ledger.ReadSpec("q", t); err != nil {
			w.fault("revision %d names the spec of %s: %v", q.Revision, t.ID, err)
		}
	}

	w.mu.Lock()
	if w.q = q; !w.Linked {
		w.passed[q.Revision] = q
	}
	w.mu.Unlock()
	w.revision.Store(q.Revision)
}

// revisions returns all revisions that are known, from files if the ledger keeps them.
func (w *world) revisions() map[int64]queue.Queue {
	if !w.Linked {
		return w.passed
	}

	all := make(map[int64]queue.Queue)
	for n := int64(1); ; n++ {
		text, err := os.ReadFile(filepath.Join(w.dir(), "queues", "q.json."+strconv.FormatInt(n, 10)))
		if err != nil {
			return all
		}
		q, err := queue.Decode(string(text))
		if err != nil || q.Revision != n {
			w.fault("file %d has revision %d: %v", n, q.Revision, err)
		}
		all[n] = q
	}
}

func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.faults) > 0
}
