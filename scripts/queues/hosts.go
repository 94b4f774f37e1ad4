//go:build linux

package queues

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// A Place is where a queue is used.
type Place struct {
	Bin    string   // the directory of the commands
	Base   string   // a local directory, which tasks know as $D
	Linked bool     // the ledger commits by link
	Seed   uint64   // of the plans
	Hosts  []Host   // with a ledger that they share; none: one host, with the ledger in Base
	Env    []string // of the commands, besides what they need
	Cuts   bool     // a host is cut off from time to time, for longer than the others wait for it
}

// A Host is one of several that use the queue. All see the same processes, but take only their own
// for theirs.
type Host struct {
	Enter  []string // what runs a command there
	Ledger string   // as it is seen there
}

// hanging is how long a command may be refused because the file system or the lock is not there.
const hanging = 5 * time.Minute

func (p Place) shared() bool { return len(p.Hosts) > 1 }

// on returns the index of the host of a client, of which the first is 1.
func (p Place) on(client int) int { return max(client-1, 0) % len(p.Hosts) }

func (p Place) host(client int) Host { return p.Hosts[p.on(client)] }

// dir returns the ledger as this process reads it: as the last host does, which is never cut off.
func (p Place) dir() string { return p.Hosts[len(p.Hosts)-1].Ledger }

// again reports whether c says that nothing was changed and that it may be tried again.
func (c call) again() bool { return c.status == 74 || c.status == 75 }

// unknown reports whether nobody knows if c has done what it should.
func (c call) unknown() bool { return c.status == -1 || c.status == 71 }

// cutOff reports whether c is a worker that could not continue without the ledger.
func (c call) cutOff() bool { return c.args[0] == "dpl-work" && c.status == 125 }

// expected reports whether a command may end as c did.
func (w *world) expected(c call, killed bool) bool {
	switch {
	case c.status == -1:
		return killed
	case c.again():
		return w.shared()
	case c.status == 71, c.cutOff():
		return w.Cuts
	}
	return c.status <= 64 || c.status == 66 || c.status == 76
}

// before returns a time in which an enqueue gets somewhere between its begin and its end.
func (w *world) before(rng *rand.Rand) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	usual := 4 * time.Millisecond
	for _, c := range slices.Backward(w.calls) {
		if c.args[0] == "dpl-enqueue" && c.status == 0 {
			usual = c.to - c.from
			break
		}
	}
	return 1 + time.Duration(rng.Int64N(int64(usual)*3/2))
}

// untold reports whether there may be claims of which nobody knows, because the command that made
// them was cut off.
func (w *world) untold() bool {
	return slices.ContainsFunc(w.calls, func(c call) bool {
		return c.args[0] == "dpl-claim" && c.status == 71
	})
}

// cutOff reports whether another attempt may run beside l, because the host of an earlier one was
// cut off, and the other one took it for dead.
func (w *world) cutOff(truth map[int64]*attempt, l line) bool {
	if !w.Cuts {
		return false
	}
	for epoch, a := range truth {
		if a.task == l.task && epoch < l.epoch && a.own && a.last.Judged && a.last.End == queue.Crashed {
			return true
		}
	}
	return false
}
