//go:build linux

package testscripts

import (
	"strconv"
	"testing"
	"time"
)

// testTimeNamespace has participants and observers in a time namespace, whose clocks from boot are
// a day ahead, and outside, in one pid namespace. Neither ages nor start times are compared across:
// no live participant is declared dead, and a dead one is found (spec §3.4).
func testTimeNamespace(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	worker := o.sleeper()
	pid := strconv.Itoa(worker.Process.Pid)
	ahead := o.container("true", "-UrT --monotonic 86400 --boottime 86400",
		"-T --monotonic 86400 --boottime 86400")
	behind := o.container("true", "-UrT --monotonic -100 --boottime -100",
		"-T --monotonic -100 --boottime -100")
	judge := func(what string, states ...string) {
		t.Helper()
		for name, observer := range map[string]func(status, command string){"ahead": ahead.exits,
			"behind": behind.exits, "outside": o.here} {
			observer("0", "dpl-cleanup")
			observer("0", "dpl-heartbeat --call main")
			if t.Failed() {
				t.Fatalf("%s: judged %s", what, name)
			}
			o.want("operations/build.json", states...)
		}
	}

	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	o.run("dpl-push", "--participant", "worker", "--call", "outside", "--pid", pid)
	ahead.exits("0", "sleep 600 & dpl-push --participant worker --call ahead --pid $!")
	behind.exits("0", "sleep 600 & dpl-push --participant worker --call behind --pid $!")
	o.want("operations/build.json", "stack.1.process.pid="+pid, "stack.2.process=absent",
		"stack.2.beat=absent", "stack.3.process=absent", "stack.3.beat=absent")
	judge("pushed", "state=running", "stack.*.state=active active active active")

	// Each sends heartbeats for those of the others.
	for _, call := range []string{"outside", "ahead", "behind"} {
		for _, beater := range []func(status, command string){ahead.exits, o.here, behind.exits} {
			beater("0", "dpl-heartbeat --call "+call)
			judge("beaten "+call, "state=running", "stack.*.state=active active active active")
		}
	}

	// An observer inside sees that no process has the pid any more, but compares no start times.
	die(worker)
	ahead.exits("0", "dpl-cleanup")
	o.want("operations/build.json", "state=cleanup", "stack.1.state=crashed",
		"stack.1.evidence=exited")

	// A process without identity is found by its heartbeat, on the wall clock.
	ahead.run("kill -9 $!; wait")
	o.here("3", "dpl-heartbeat --call main")
	o.want("operations/build.json", "stack.2.state=active")
	o.run("dpl-cleanup", "--now", o.later(2, 601*time.Second))
	o.want("operations/build.json", "stack.2.state=crashed", "stack.2.evidence=stale")
}
