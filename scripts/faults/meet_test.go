//go:build linux

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A pair is two commands on the same files: a is stopped after one of its calls, and b runs in the
// meantime.
type pair struct {
	*world
	a, b   step
	calls  []call    // of a, when it is alone
	orders []outcome // of what they do, one after the other; the status of a comes first
}

// newPair runs a and b one after the other in all orders.
func newPair(t *testing.T, w *world, a, b step, calls []call) *pair {
	p := &pair{world: w, a: a, b: b, calls: calls}
	p.orders = []outcome{p.serial(t, p.doA, p.doB), p.serial(t, p.doB, p.doA)}
	for _, s := range []step{a, b} {
		if s.first != nil {
			begin := func(t *testing.T, _ *outcome) { p.world.run(*s.first) }
			p.orders = append(p.orders, p.serial(t, begin, p.doA, p.doB),
				p.serial(t, begin, p.doB, p.doA))
		}
	}

	return p
}

// doA also runs a under strace here, because some commands record their parent.
func (p *pair) doA(t *testing.T, o *outcome) { o.statuses[0] = p.trace(t, p.a).status }

func (p *pair) doB(t *testing.T, o *outcome) { o.statuses[1] = p.world.run(p.b).status }

func (p *pair) serial(t *testing.T, steps ...func(*testing.T, *outcome)) outcome {
	t.Helper()
	p.reset(t)
	o := outcome{statuses: []int{0, 0}}
	for _, do := range steps {
		do(t, &o)
	}

	var err error
	if o.facts, err = p.facts(true); err != nil {
		t.Fatalf("%v, and %v, one after the other: %v", p.a, p.b, err)
	}
	return o
}

func (p *pair) String() string { return fmt.Sprintf("%v, and %v meanwhile", p.a, p.b) }

// met is how a pair met.
type met struct {
	waited bool   // b had to wait for a
	lost   string // what is wrong with the outcome
}

// meet stops a after its call i, and reports whether that succeeded. On a busy machine it may take
// several tries.
func (p *pair) meet(t *testing.T, i int) (m met, hit bool) {
	t.Helper()
	c := p.calls[i]
	for range tries {
		p.reset(t)
		got, stopped := p.try(t, &c, i, &m)
		if !stopped {
			continue
		}
		m.lost = p.lost(got)
		return m, true
	}

	return m, false
}

// try makes one run. If a has made other calls than expected, c gets the number that the wanted one
// had this time.
func (p *pair) try(t *testing.T, c *call, i int, m *met) (o outcome, hit bool) {
	ctx, cancel := deadline()
	defer cancel()

	a, file := p.straced(ctx, t, p.a, ".trace", calls, "-e", c.stop())
	first := start(ctx, t, a)
	pid, calls := p.stopped(file, first, 1)
	hit = pid != 0 && len(calls) == i+1 && slices.EqualFunc(calls, p.calls[:i+1], call.same)
	if !hit && len(calls) > i && slices.EqualFunc(calls[:i+1], p.calls[:i+1], call.same) {
		c.k = calls[i].k
	}

	o, m.waited = p.finish(ctx, t, pid, first)

	return o, hit && !o.straceFailed()
}

// straceFailed reports whether strace ended before the command, because the command was continued
// between its stop and strace's handling of that. The status is then strace's.
func (o outcome) straceFailed() bool {
	return strings.Contains(o.said,
		"strace: ptrace(PTRACE_LISTEN")
}

// finish runs b while a, the process pid, is stopped, and continues a when b has ended or waits for
// it.
func (p *pair) finish(ctx context.Context, t *testing.T, pid int,
	a *running) (o outcome, waited bool) {
	s := p.b.with("--lock-timeout", "50s")
	cmd := p.command(ctx, s)
	waits := func() bool { return waits(cmd.Process.Pid) }
	if p.links() { // a waiting command asks again and again
		var trace string
		cmd, trace = p.straced(ctx, t, s, ".trace2", "flock")
		waits = func() bool {
			text, _ := os.ReadFile(trace)
			return bytes.Count(text, []byte("EAGAIN")) > 2
		}
	}

	b := start(ctx, t, cmd)
	poll.Within(poll.Patience, func() bool {
		waited = pid != 0 && waits()
		return waited || b.over()
	})

	// strace counts by thread, and so may stop one that waits for its second lock
	poll.Within(poll.Patience, func() bool {
		if pid != 0 {
			syscall.Kill(pid, syscall.SIGCONT)
		}
		return a.over()
	})

	o.statuses = []int{a.wait().status, b.wait().status}
	o.said = a.stderr + "\n" + b.stderr
	var err error
	if o.facts, err = p.facts(true); err != nil {
		t.Errorf("%v: %v", p, err)
	}

	return o, waited
}

// stopped waits until the command of a trace is stopped for the nth time, and returns its process
// and its calls so far, or 0 if it ended.
func (p *pair) stopped(file string, running *running, n int) (pid int, calls []call) {
	size := 0
	poll.Within(poll.Patience, func() bool {
		over := running.over()
		text, _ := os.ReadFile(file)
		if len(text) == size && !over {
			return false
		}

		size = len(text)
		if !over && !strings.Contains(string(text), "stopped by SIGSTOP") {
			return false
		}

		word, found, stops := p.parse(string(text))
		calls = found
		if stops >= n {
			pid, _ = strconv.Atoi(word)
		}

		return stops >= n || over
	})

	return pid, calls
}

// lost says how the outcome is not that of a and b one after the other, in any order.
func (p *pair) lost(got outcome) string {
	var why strings.Builder
	for _, want := range p.orders {
		if slices.Equal(got.statuses, want.statuses) && got.facts.equal(want.facts) {
			return ""
		}
		fmt.Fprintf(&why, "exit %v, want %v\n%s", got.statuses, want.statuses,
			got.facts.differences(want.facts))
	}

	fmt.Fprintf(&why, "they said:\n%s", got.said)
	return why.String()
}

// running is a process that is being waited for.
type running struct {
	ended chan struct{}
	result
}

func start(ctx context.Context, t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	r := &running{ended: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		r.result = result{cmd.ProcessState.ExitCode(), strings.TrimSpace(stderr.String())}
		if ctx.Err() != nil {
			r.result = result{blocked, errors.Join(ctx.Err(), err).Error()}
		}
		close(r.ended)
	}()

	return r
}

func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *running) wait() result {
	<-r.ended
	return r.result
}
