//go:build linux

package queues

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// crowd has clients use a queue for period, and then do all tasks that are left. A half of the
// clients would claim, if there were slots for all.
func crowd(p Place, clients int, period time.Duration) (*world, error) {
	w, err := newWorld(p, "--on-dead-dependency", "cancel", "--max-attempts", "6",
		"--slots", strconv.Itoa(clients/2-1))
	if err == nil {
		err = os.WriteFile(w.script(), []byte(script), 0o600)
	}
	if err != nil {
		return nil, err
	}

	w.use(clients, period)
	w.drain()
	w.check()
	return w, nil
}

// missing returns what has not happened yet.
func (w *world) missing() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[string]bool)
	for _, c := range w.calls {
		seen[c.args[0]+" "+strconv.Itoa(c.status)] = true
	}
	for _, e := range w.q.Counters.Ends {
		seen[string(e.End)] = true
	}
	for what := range w.kills {
		seen["killed "+what] = true
	}

	for _, what := range strings.Split("dpl-enqueue 0,dpl-enqueue -1,dpl-enqueue 76,dpl-claim 0,"+
		"dpl-claim 76,dpl-settle 0,dpl-settle 5,dpl-settle 76,dpl-queue 0,done,failed,crashed,released,"+
		"blocked,snoozed,killed claimer,killed attempt,killed keeper,killed command,killed worker", ",") {
		if !seen[what] {
			all = append(all, what)
		}
	}
	return all
}
