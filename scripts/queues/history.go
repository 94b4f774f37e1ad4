//go:build linux

package queues

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// porcupineModel has porcupine try orders of commands.
var porcupineModel = porcupine.Model{
	Init: func() any { return model{revision: 1} },
	Step: func(state, input, output any) (bool, any) {
		after, foreseen := state.(model).do(input.(request))
		return foreseen == output.(answer), after
	},
	Equal: func(a, b any) bool { return a.(model).equal(b.(model)) },
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v: %+v", input, output)
	},
}

// patience is how long porcupine may try.
const patience = 20 * time.Second

// A history is what the clients of a world did and were told.
type history struct {
	w      *world
	mu     sync.Mutex
	events []porcupine.Operation
	given  []answer // to claims
	made   atomic.Int64
}

// record records a history of that many commands.
func record(p Place, clients, commands int) (*history, error) {
	w, err := newWorld(p, "--max-attempts", strconv.Itoa(maxAttempts))
	if err != nil {
		return nil, err
	}

	h := &history{w: w}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			rng := h.w.rng(i + 1)
			for h.made.Load() < int64(commands) && !h.w.failed() {
				h.use(i+1, rng)
			}
		})
	}
	all.Wait()
	h.w.read()
	return h, nil
}

// judge has porcupine explain h.
func (h *history) judge() porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(porcupineModel, h.events, patience)
}

// use does what one client does with one claimer.
func (h *history) use(client int, rng *rand.Rand) {
	for range rng.IntN(4) {
		h.manage(client, rng)
	}

	holder := exec.Command("sleep", "600")
	if err := holder.Start(); err != nil {
		h.w.fault("%v", err)
		return
	}
	defer h.die(client, holder)

	for range 1 + rng.IntN(3) {
		r := request{verb: "claim", holder: holder.Process.Pid}
		if rng.IntN(4) == 0 {
			r.tasks = h.task(rng)
		}
		got := h.do(client, r)
		if got.epoch == 0 {
			continue
		}
		for range rng.IntN(3) {
			h.do(client, request{verb: "settle", tasks: got.task, epoch: got.epoch, end: h.end(rng)})
		}
		if rng.IntN(2) == 0 {
			return
		}
	}
}

func (h *history) end(rng *rand.Rand) string {
	return []string{"done", "done", "failed", "failed", "released", "blocked",
		"unclaimed"}[rng.IntN(7)]
}

// task returns a task that may be there.
func (h *history) task(rng *rand.Rand) string {
	return fmt.Sprint("t", rng.IntN(int(h.made.Load())/6+3))
}

// manage does something else than to claim.
func (h *history) manage(client int, rng *rand.Rand) {
	r := request{tasks: h.task(rng)}
	switch what := rng.IntN(10); what {
	case 0:
		r.verb = "cancel"
	case 1, 2:
		r.verb = "again"
	case 3, 4: // an attempt of somebody
		h.mu.Lock()
		if n := len(h.given); n > 0 {
			old := h.given[max(0, n-1-rng.IntN(8))]
			r = request{verb: "settle", tasks: old.task, epoch: old.epoch, end: h.end(rng)}
		}
		h.mu.Unlock()
		if rng.IntN(4) == 0 {
			r.epoch += 1000
		}
	default:
		r.verb = "enqueue"
		for range rng.IntN(3) {
			if id := h.task(rng); !strings.Contains(r.tasks+" ", id+" ") {
				r.tasks += " " + id
			}
		}
	}
	if r.verb != "" {
		h.do(client, r)
	}
}

// kind returns the group and priority of the tasks that r adds: others for another batch.
func (r request) kind() (group string, rank int64) {
	n := len(r.tasks) + int(r.tasks[len(r.tasks)-1])
	return []string{"", "g", "h"}[n%3], int64(n % 2)
}

// do makes the command of r, and records it.
func (h *history) do(client int, r request) answer {
	var args []string
	in := ""
	switch r.verb {
	case "enqueue":
		r.group, r.rank = r.kind()
		args = []string{"dpl-enqueue", "q", "--json"}
		for _, id := range strings.Fields(r.tasks) {
			group := ""
			if r.group != "" {
				group = fmt.Sprintf(`,"group":%q`, r.group)
			}
			in += fmt.Sprintf(`{"taskId":%q,"priority":%d,"text":%q%s}`, id, r.rank, id, group)
		}
	case "claim":
		args = []string{"dpl-claim", "q", "--json", "--pid", strconv.Itoa(r.holder)}
		if r.tasks != "" {
			args = append(args, "--task", r.tasks)
		}
	case "settle":
		flag := map[string]string{"done": "--done", "failed": "--fail", "released": "--release",
			"blocked": "--block=why", "unclaimed": "--unclaim"}[r.end]
		args = []string{"dpl-settle", "q", "--json", "--task", r.tasks, "--epoch",
			strconv.FormatInt(r.epoch, 10), flag}
	case "again", "cancel":
		args = []string{"dpl-enqueue", "q", "--json", "--" + r.verb, r.tasks}
	}

	c := h.w.run(client, 0, in, args...)
	a := answer{status: c.status}
	if c.status == 0 {
		var said struct {
			Revision int64  `json:"revision"`
			TaskID   string `json:"taskId"`
			Epoch    int64  `json:"epoch"`
		}
		if err := json.Unmarshal([]byte(c.out), &said); err != nil {
			h.w.fault("%v: %v", c, err)
		}
		if r.verb == "claim" {
			a.task, a.epoch = said.TaskID, said.Epoch
		} else {
			a.revision = said.Revision
		}
	}
	if c.unknown() {
		h.w.fault("a history cannot have that: %v", c)
	}
	h.note(client, r, a, c.span)
	return a
}

// die kills a claimer.
func (h *history) die(client int, holder *exec.Cmd) {
	h.w.bury(holder)
	pid := holder.Process.Pid
	h.w.mu.Lock()
	when := h.w.killed[pid][len(h.w.killed[pid])-1]
	h.w.mu.Unlock()
	h.note(client, request{verb: "die", holder: pid}, answer{}, when)
}

func (h *history) note(client int, r request, a answer, when span) {
	h.made.Add(1)
	r.host = h.w.on(client)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, porcupine.Operation{ClientId: client, Input: r, Output: a,
		Call: int64(when.from), Return: int64(when.to)})
	if a.epoch != 0 {
		h.given = append(h.given, a)
	}
}

func (h *history) String() string {
	var b strings.Builder
	for _, e := range h.events {
		fmt.Fprintf(&b, "%d %d-%d %+v: %+v\n", e.ClientId, e.Call/1000, e.Return/1000, e.Input, e.Output)
	}
	return b.String()
}
