//go:build linux

package testscripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// TestStartGate kills passes at moments spread over their whole duration, and examines what is
// left: every running service is in the ledger, none runs twice, and the next pass starts missing
// ones without counting a restart (spec §11.5). With DPL_SOAK there are eight times as many
// moments; without it, they differ each time.
func TestStartGate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short")
	}
	bin := built(t)
	t.Run("first start", func(t *testing.T) { newGateTest(t, bin, false).run(t) })
	t.Run("restart", func(t *testing.T) { newGateTest(t, bin, true).run(t) })
}

// When a pass was killed.
const (
	beforeCommit = "before the first commit"
	afterCommit  = "between the first commit and exec"
	afterExec    = "after exec, before the result"
	afterResult  = "after the result"
)

var gated = []string{"a", "b", "c"}

// gateTest kills passes that have three supervisors to start, for the first time or again.
type gateTest struct {
	bin, dir string
	attempts int
	rounds   int
	when     map[string]int
}

// newGateTest creates the ledger that each round copies.
func newGateTest(t *testing.T, bin string, restart bool) *gateTest {
	g := &gateTest{bin: bin, dir: t.TempDir(), when: make(map[string]int)}
	t.Cleanup(func() { proc.EndAll(g.dir) })
	r := g.round(t)
	for _, id := range gated {
		r.run("dpl-register", "--request", "--no-pass", "--supervisor", id, "--backoff", "0", "--",
			"sleep", "600")
	}

	if restart {
		r.run("dpl-orchestrate", "--staleness", "1h")
		proc.EndAll(r.dir)
		g.attempts = 1
	}

	return g
}

func (g *gateTest) run(t *testing.T) {
	const reach, few = 1.5, 3
	kills, shift := 8, rand.Float64()
	if os.Getenv("DPL_SOAK") != "" {
		kills = 60
	}

	passes := make([]time.Duration, 5)
	for i := range passes {
		passes[i] = g.kill(t, time.Time{}, -1)
	}

	slices.Sort(passes)
	whole := passes[len(passes)/2]
	step := time.Duration(float64(whole) * reach / float64(kills))
	for i := range kills {
		g.kill(t, time.Now(), time.Duration((float64(i)+shift)*float64(step)))
	}

	t.Logf("a pass takes %v; killed in steps of %v, shifted by %.2f: %v", whole, step, shift,
		g.when)

	// The rest of it is short, so its moments are counted from the commit.
	step = whole / time.Duration(2*kills)
	for i := range kills / 2 {
		g.kill(t, time.Time{}, time.Duration((float64(i)+shift)*float64(step)))
	}

	t.Logf("and in steps of %v after the commit: %v", step, g.when)

	// On a busy machine some of them may have been missed.
	for tries := range 100 {
		some := whole * time.Duration(tries) / 50
		switch {
		case g.when[beforeCommit] < few:
			g.kill(t, time.Now(), some/10)
		case g.when[afterCommit] < few:
			g.kill(t, time.Time{}, some/50)
		case g.when[afterExec] < few:
			g.kill(t, time.Time{}, some)
		case g.when[afterResult] < few:
			g.kill(t, time.Now(), whole+some)
		default:
			return
		}
	}

	t.Errorf("of some moments there were fewer than %d: %v", few, g.when)
}

// round returns the ledger of a new round.
func (g *gateTest) round(t *testing.T) *gateRound {
	r := &gateRound{t: t, bin: g.bin, dir: filepath.Join(g.dir, strconv.Itoa(g.rounds))}
	if g.rounds++; g.rounds > 1 {
		if err := exec.Command("cp", "-pR", filepath.Join(g.dir, "0"), r.dir).Run(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// kill kills a pass when after has passed since begin, which is the first commit if it is zero, and
// checks what is left; a negative time never comes. It returns how long the pass took.
func (g *gateTest) kill(t *testing.T, begin time.Time, after time.Duration) time.Duration {
	t.Helper()
	r := g.round(t)
	defer proc.EndAll(r.dir)

	before := r.text()
	took := r.kill(begin, after)
	if after >= 0 {
		g.when[r.check(before, g.attempts)]++
	}

	r.run("dpl-orchestrate", "--staleness", "1h")
	r.run("dpl-orchestrate")
	for _, id := range gated {
		s, living := r.recorded()[id], r.living(id)
		if len(living) != 1 || living[0] != s.PID || s.State != "running" ||
			s.RestartAttempts != g.attempts {
			t.Fatalf("killed after %v: in the end %v live as %s:\n%s", after, living, id, r.text())
		}
	}

	r.checkAlerts(2 * g.attempts * len(gated))

	return took
}

// gateRound is a ledger of its own.
type gateRound struct {
	t        *testing.T
	bin, dir string
}

func (r *gateRound) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(r.bin, name), args...)
	cmd.Env = append(os.Environ(), "DPL_LEDGER="+r.ledger(), "DPL_GROUP=g")
	return cmd
}

func (r *gateRound) run(name string, args ...string) {
	r.t.Helper()
	if out, err := r.command(name, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func (r *gateRound) ledger() string { return filepath.Join(r.dir, "ledger") }

func (r *gateRound) file() string { return filepath.Join(r.ledger(), "g.supervisors.json") }

func (r *gateRound) text() string {
	data, err := os.ReadFile(r.file())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *gateRound) recorded() map[string]recorded {
	all, err := recordedProcesses(r.file())
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// kill makes a pass, and kills it at a precise moment. It does not sleep, because a timer fires too
// late for that.
func (r *gateRound) kill(begin time.Time, after time.Duration) time.Duration {
	cmd := r.command("dpl-orchestrate", "--staleness", "1h")
	file, err := os.Stat(r.file())
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}

	start := time.Now()
	if !begin.IsZero() {
		begin = start
	} else if after >= 0 { // on a busy machine too, this test has to run between a commit and what follows
		syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, 19)
	}

	for deadline := start.Add(poll.Patience); after >= 0 && time.Now().Before(deadline); {
		if begin.IsZero() {
			if now, err := os.Stat(r.file()); err == nil && !os.SameFile(file, now) {
				begin = time.Now()
			}
		}
		if !begin.IsZero() && time.Since(begin) >= after {
			break
		}
	}

	if after >= 0 {
		cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil && after < 0 {
		r.t.Fatal(err)
	}

	return time.Since(start)
}

// living returns the processes that run as service id. A stage whose gate is closed has no
// environment yet.
func (r *gateRound) living(id string) []int {
	return proc.With("DPL_LEDGER="+r.ledger(), "DPL_GROUP=g", "DPL_SUPERVISOR="+id)
}

// check looks at what a killed pass has left, and returns when that was.
func (r *gateRound) check(before string, attempts int) string {
	r.t.Helper()
	text := r.text()
	if !poll.Within(poll.Patience, func() bool { return len(r.stages()) == 0 }) {
		left := r.stages()
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		r.t.Fatalf("stages %v wait for a pass that is dead", left)
	}

	if r.text() != text {
		r.t.Fatal("somebody else writes to the ledger")
	}

	starting, running := strings.Contains(text, `"starting": true`), 0
	for id, s := range r.recorded() {
		living := r.living(id)
		running += len(living)
		if len(living) > 1 {
			r.t.Fatalf("%v live as %s", living, id)
		}

		for _, pid := range living {
			if ticks, _ := proc.StartTicks(pid); pid != s.PID || ticks != s.Process.StartTicks {
				r.t.Fatalf("process %d, started at %d, runs as %s, but the ledger does not know "+
					"it:\n%s", pid, ticks, id, text)
			}
			if got := len(proc.With("DPL_LEDGER="+r.ledger(), "DPL_SUPERVISOR="+id,
				fmt.Sprintf("DPL_ATTEMPT=%d", s.RestartAttempts))); got != 1 ||
				s.RestartAttempts != attempts {
				r.t.Fatalf("%s runs as attempt that was not counted before:\n%s", id, text)
			}
		}
	}

	switch {
	case text == before && running > 0:
		r.t.Fatalf("%d supervisors run before the commit", running)
	case text == before:
		return beforeCommit
	case starting && running == 0:
		return afterCommit
	case starting:
		return afterExec
	case running != len(gated):
		r.t.Fatalf("%d supervisors run after the result:\n%s", running, text)
	}

	return afterResult
}

// stages returns the processes that wait at a gate of this ledger's commands, which only this test
// runs. One that is about to end may have no program any more, but the next pass would still take
// it for a service. A keeper waits at no gate.
func (r *gateRound) stages() []int {
	var found []int
	for id, s := range r.recorded() {
		ticks, alive := proc.StartTicks(s.PID)
		if alive && ticks == s.Process.StartTicks && !slices.Contains(r.living(id), s.PID) {
			found = append(found, s.PID)
		}
	}

	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		keeper := strings.Contains(string(words), "--dpl-start-keeper")
		if _, alive := proc.StartTicks(pid); alive &&
			exe == filepath.Join(r.bin, "dpl-orchestrate") && !keeper {
			found = append(found, pid)
		}
	}

	return found
}

// checkAlerts checks that each alert is there once, whatever was killed.
func (r *gateRound) checkAlerts(want int) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.ledger(), "g.alerts.jsonl"))
	if ignoreMissing(err) != nil {
		r.t.Fatal(err)
	}

	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(data) == 0 {
		lines = nil
	}

	for i, line := range lines {
		var alert struct{ Seq int }
		if err := json.Unmarshal(line, &alert); err != nil || alert.Seq != i+1 {
			r.t.Fatalf("line %d is %s (%v)", i+1, line, err)
		}
	}

	if len(lines) != want || strings.Contains(r.text(), "pendingAlerts") {
		r.t.Fatalf("%d alerts, want %d:\n%s", len(lines), want, data)
	}
}
