//go:build linux

package faults

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// testSwept lets three commands meet. One has opened the lock file that it has created, and is
// stopped. A janitor removes the file, which belongs to no operation. The first continues, and is
// stopped again before it commits. Another one pushes. If the first does not notice that its lock
// file is gone, one push is lost.
func testSwept(t *testing.T, bin string, mode commitMode) {
	w := newWorld(t, bin, mode, at(0, "dpl-push --op other --participant x --call y"))
	a, b := at(0, "dpl-push --op o --participant cli --call main"), at(0,
		"dpl-push --op o --participant x --call new")
	calls := w.baseline(t, a).calls
	opens := slices.IndexFunc(calls, func(c call) bool {
		return c.name == "openat" &&
			strings.HasSuffix(c.on, "o.json.lock")
	})
	if opens < 0 {
		t.Fatalf("no lock file among %v", calls)
	}

	p := newPair(t, w, a, b, calls)
	for range tries {
		p.reset(t)
		if got, hit := p.sweep(t, calls[opens]); hit {
			if lost := p.lost(got); lost != "" {
				t.Error(lost)
			}
			return
		}
	}

	t.Error("never stopped twice")
}

// sweep makes one run; the first stop is after c, the second after the temporary file is synced.
func (p *pair) sweep(t *testing.T, c call) (o outcome, hit bool) {
	ctx, cancel := deadline()
	defer cancel()

	cmd, file := p.straced(ctx, t, p.a, ".trace", calls, "-e", c.stop(), "-e",
		call{name: "fsync", k: 1}.stop())
	a := start(ctx, t, cmd)
	pid, _ := p.stopped(file, a, 1)
	if pid == 0 {
		return o, false
	}
	if got := p.world.run(at(0, "dpl-cleanup")); got.status != 0 ||
		p.exists("operations/o.json.lock") {
		t.Errorf("the lock file is not swept away: %v", got)
	}

	syscall.Kill(pid, syscall.SIGCONT)
	pid, _ = p.stopped(file, a, 2)
	o, _ = p.finish(ctx, t, pid, a)

	return o, pid != 0 && !o.straceFailed()
}
