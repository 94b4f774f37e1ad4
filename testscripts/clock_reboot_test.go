package testscripts

import (
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// TestClockReboot reboots the machine, after which its clock may be wrong. Participants that the
// reboot ended and that are known by their process are dead at once, unless they seem to have sent
// a heartbeat since. Then, like those known only by heartbeats, they are dead when a heartbeat is
// older than the threshold, or as far in the future (spec §4.2).
//
// So it is with claims. One that has neither a call nor a deadline may stand until the clock is
// right (spec §35.2).
func TestClockReboot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		up     time.Duration // how long the machine was up before the reboot
		set    time.Duration // the clock after the reboot
		known  observe.Evidence
		beaten observe.Evidence // of those known by their heartbeats
	}{
		{"right", time.Hour, 0, observe.Rebooted, observe.Stale},
		{"right, a moment after another one", 500 * time.Millisecond, 0, observe.Rebooted,
			observe.Stale},
		{"an hour ahead", time.Hour, time.Hour, observe.Rebooted, observe.Stale},
		{"an hour behind", time.Hour, -time.Hour, observe.Rebooted, observe.Stale},
		{"at the beginning of time", time.Hour, -50 * 365 * 24 * time.Hour, observe.Rebooted,
			observe.Stale},
		{"55 seconds behind", time.Hour, -55 * time.Second, observe.Rebooted, ""},
		{"62 seconds behind", time.Hour, -62 * time.Second, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newClockWorld(1)
			w.monotonic = c.up
			r := &clockRun{t: t, w: w, ledger: newTestLedger(t)}
			known := w.start()
			r.edit(func(protocol.Operation) (protocol.Operation, error) {
				op := protocol.Create("build", "", protocol.DefaultHeartbeatInterval,
					protocol.DefaultStalenessThreshold)
				return op.Push(protocol.Push{Participant: "known", Call: "known", PID: known.PID,
					Process: known, Contained: true}, w.observe())
			})

			r.edit(func(op protocol.Operation) (protocol.Operation, error) {
				return op.Push(protocol.Push{Participant: "beaten", Call: "beaten",
					Contained: true}, w.observe())
			})

			claims := &rebootedClaims{newQueueRun(t, w, r.ledger)}
			claims.make(known)
			w.reboot()
			w.wall = w.wall.Add(c.set)
			cleanup := func(op protocol.Operation) (protocol.Operation, error) {
				seen := w.observe()
				seen.Watch = observe.Awake // else those that are silent get a grace first
				return op.Cleanup("janitor", seen)
			}

			op := r.edit(cleanup)
			if got := evidenceOf(op.Frame("known")); got != c.known {
				t.Errorf("known by its process: %q, want %q", got, c.known)
			}
			if got := evidenceOf(op.Frame("beaten")); got != c.beaten {
				t.Errorf("known by its heartbeats: %q, want %q", got, c.beaten)
			}
			ofClaims := c.known
			if c.set <= -time.Hour { // a claim has no heartbeat that could be in the future
				ofClaims = observe.Stale
			}
			claims.judged(ofClaims)

			// Whatever the clock, an observer that was awake takes no dead participant for alive
			// for longer than two thresholds.
			w.pass(2*op.StalenessThreshold + time.Millisecond)
			op = r.edit(cleanup)
			for _, f := range op.Stack {
				if f.State.Live() {
					t.Errorf("%s is %s", f.CallID, f.State)
				}
			}
			claims.judgedLater(ofClaims)
			w.wall = w.wall.Add(-c.set)
			claims.judgedInTheEnd()
		})
	}
}
