//go:build linux

package testscripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// happening is what an edit makes happen, and a line tells.
type happening struct {
	Revision      int
	Type, CallID  string
	After         int
	OperationID   string
	SchemaVersion int
}

// TestWatchStorm makes writers push and pop as fast as they can, and compares that with the output
// of watchers: one that is left alone, one that is killed and resumed again and again, and one that
// is stopped for a while.
func TestWatchStorm(t *testing.T) {
	t.Parallel()
	const writers, pairs = 8, 30
	o := startObserved(t)
	happened := map[happening]bool{{Revision: 1, Type: "callStarted", CallID: "main"}: true}
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	var watchers sync.WaitGroup
	alone, resumed, stopped := &watcher{observed: o}, &watcher{observed: o,
		mortal: true}, &watcher{observed: o}

	for _, w := range []*watcher{alone, resumed, stopped} {
		w.begin()
		watchers.Go(w.read)
	}

	stopped.cmd.Process.Signal(syscall.SIGSTOP)
	var mu sync.Mutex
	var all sync.WaitGroup

	for i := range writers {
		all.Go(func() {
			for j := range pairs {
				call := fmt.Sprintf("c%d-%d", i, j)
				started := o.edit("dpl-push", "--participant", "worker", "--call", call)
				ended := o.edit("dpl-pop", "--call", call)
				mu.Lock()
				happened[happening{Revision: started, Type: "callStarted", CallID: call}] = true
				happened[happening{Revision: ended, Type: "callEnded", CallID: call}] = true
				mu.Unlock()
			}
		})
	}

	all.Wait()
	stopped.cmd.Process.Signal(syscall.SIGCONT)
	last := o.edit("dpl-pop", "--call", "main")
	happened[happening{Revision: last, Type: "callEnded", CallID: "main"}] = true
	happened[happening{Revision: last, Type: "operationState"}] = true
	watchers.Wait()
	if want := 2 + 2*writers*pairs; last != want || len(happened) != want+1 {
		t.Fatalf("the last revision is %d, of %d happenings, want %d", last, len(happened), want)
	}

	alone.check("alone", happened)
	resumed.check("resumed", happened)
	if gaps := stopped.check("stopped", happened); gaps == 0 {
		t.Errorf("no line says what the one that was stopped has missed")
	}
}

// edit runs a command and returns the revision that it committed.
func (o *observed) edit(name string, args ...string) int {
	var result struct{ Revision int }
	if err := json.Unmarshal([]byte(o.run(name, append(args, "--json", "--lock-timeout", "1h")...)),
		&result); err != nil {
		o.t.Error(err)
	}
	return result.Revision
}

// watcher is a dpl-watch.
type watcher struct {
	*observed
	mortal bool // it is killed now and then
	cmd    *exec.Cmd
	out    *bufio.Scanner
	lines  []happening
	lives  int
}

func (w *watcher) begin() {
	since := 0
	if len(w.lines) > 0 {
		since = w.lines[len(w.lines)-1].Revision
	}

	w.cmd = w.command("dpl-watch", "--since", strconv.Itoa(since))
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		w.t.Error(err)
	}

	w.out = bufio.NewScanner(out)
	w.lives++
}

// read reads what it prints until it ends, and begins it anew where it was killed.
func (w *watcher) read() {
	for {
		for left := rand.IntN(20); w.out.Scan(); left-- {
			var line happening
			if err := json.Unmarshal(w.out.Bytes(), &line); err != nil || line.SchemaVersion != 1 ||
				line.OperationID != "build" {
				w.t.Errorf("%s (%v)", w.out.Text(), err)
			}

			line.SchemaVersion, line.OperationID = 0, ""
			w.lines = append(w.lines, line)
			if left == 0 && w.mortal {
				w.cmd.Process.Kill()
			}
		}

		err := w.cmd.Wait()
		if !w.mortal || !isExit(err) {
			if err != nil {
				w.t.Errorf("%v: %v", w.cmd.Args, err)
			}
			return
		}

		w.begin()
	}
}

// check compares the lines with the events, and returns the number of gaps.
func (w *watcher) check(name string, happened map[happening]bool) (gaps int) {
	told, missed, before := make(map[happening]bool), make(map[int]bool), 0
	for _, line := range w.lines {
		switch {
		case line.Revision < before:
			w.t.Errorf("%s: %v comes after revision %d", name, line, before)
		case line.Type == "gap":
			if line.After != before {
				w.t.Errorf("%s: %v comes after revision %d", name, line, before)
			}
			for r := line.After + 1; r <= line.Revision+1; r++ {
				missed[r] = true
			}
			gaps++
		case told[line] || !happened[line]:
			w.t.Errorf("%s: %v: told before %v, has happened %v", name, line, told[line],
				happened[line])
		}

		told[line], before = true, line.Revision
	}

	for h := range happened {
		if !told[h] && !missed[h.Revision] {
			w.t.Errorf("%s: %v is not told", name, h)
		}
	}

	w.t.Logf("%s: %d lines, %d gaps, %d lives", name, len(w.lines), gaps, w.lives)
	return gaps
}
