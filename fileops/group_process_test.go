package fileops

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
)

func TestManyProcessesPassAndLoseNothing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { readAllTheTime(t, l, done) })
	var cmds []*exec.Cmd
	for i := range 16 {
		cmds = append(cmds, childCommand("pass", l.Dir(), fmt.Sprint("p", i), "10"))
	}

	acked := runAll(t, cmds, false)
	close(done)
	reader.Wait()
	g := readGroup(t, l, "g")
	if got := slices.Sorted(slices.Values(namesOf(g))); !slices.Equal(got, acked) ||
		len(got) != 160 {
		t.Errorf("%d passes of 160, %d acknowledged", len(got), len(acked))
	}

	must(t, wantAlerts(l, g))
	if g.Orchestrator.Revision != 160 || g.Registry.Revision != 320 {
		t.Errorf("got revisions %d, %d", g.Orchestrator.Revision, g.Registry.Revision)
	}
}

// readAllTheTime checks that every read is complete, and never older than the one before.
func readAllTheTime(t *testing.T, l *Ledger, done <-chan struct{}) {
	var last group.Group
	for {
		select {
		case <-done:
			return
		default:
		}

		g, err := l.ReadGroup("g")
		if last.ID == "" && err == ErrNoGroup {
			continue
		}

		lines, alertsErr := l.Alerts("g", int64(len(namesOf(last)))-3)
		switch {
		case err != nil || alertsErr != nil:
			t.Error(err, alertsErr)
			return
		case g.Registry.Revision < last.Registry.Revision,
			g.Orchestrator.Revision < last.Orchestrator.Revision,
			int(g.Orchestrator.Revision) > len(namesOf(g)):
			t.Errorf("read %+v after %+v", g, last)
			return
		case len(lines) > 0 && int(lines[0].Seq) != max(1, len(namesOf(last))-2):
			t.Errorf("the first line after %d is %v", len(namesOf(last))-3, lines[0])
		}

		last = g
	}
}

func TestKilledPassesTearNothing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{LockTimeout: 10 * time.Second})
	var acked []string

	for round := range 30 {
		cmd := childCommand("pass", l.Dir(), fmt.Sprint("p", round), "1000000")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)

		for n := 0; lines.Scan(); n++ {
			acked = append(acked, lines.Text())
			if n == round%5 {
				cmd.Process.Kill()
			}
		}

		cmd.Wait()
	}

	pass(t, l, "last")
	g := readGroup(t, l, "g")
	must(t, wantAlerts(l, g))
	names := namesOf(g)

	for _, name := range acked {
		if !slices.Contains(names, name) {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}

	if len(names) > len(acked)+31 {
		t.Errorf("%d passes, but %d were acknowledged", len(names), len(acked))
	}

	must(t, l.Sweep())
	want := []string{"archive", "g.alerts.jsonl", "g.lock", "g.orchestrator.json",
		"g.supervisors.json", "ledger.json", "operations", "tmp"}
	if left := filesIn(t, l.Dir()); !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}
