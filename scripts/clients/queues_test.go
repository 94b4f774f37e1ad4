//go:build linux

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// tasksDone is what each program says that does the tasks of a queue.
const tasksDone = `refused
to Ada 1
has one
bad ['true'] 1
no good
bad 2
lost
None
timed out
letters is halted
`

// TestQueueClients does tasks of a queue in Python and in Node.
func TestQueueClients(t *testing.T) {
	t.Parallel()
	bin := build.Commands(t, root)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	for program, file := range map[string]string{"python3": "queue.py", "node": "queue.mjs"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			strict.Program(t, program)
			ledger := filepath.Join(t.TempDir(), "ledger")
			cmd := exec.Command(program, filepath.Join(here, "testdata", file), here)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DPL_LEDGER="+ledger,
				"PYTHONDONTWRITEBYTECODE=1")

			create := exec.Command(filepath.Join(bin, "dpl-queue"), "letters", "--create", "--backoff", "0")
			create.Env = cmd.Env
			if out, err := create.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || string(out) != tasksDone {
				t.Errorf("%v, it says\n%swant\n%s%s", err, out, tasksDone, stderr.String())
			}

			l, err := fileops.Open(ledger, fileops.Options{})
			if err != nil {
				t.Fatal(err)
			}
			q, err := l.ReadQueue("letters")
			if err != nil || len(q.Tasks) != 0 || q.Counters.Done != 1 || q.Counters.Cancelled != 1 ||
				q.Counters.Claimed != 4 {
				t.Errorf("%v: %s", err, q.Encode())
			}
		})
	}
}

// Workers that are killed while they wait for a task leave nobody who takes one for them, and waits
// of killed programs end.
func TestKilledWaiters(t *testing.T) {
	t.Parallel()
	bin := build.Commands(t, root)
	const python = "import dpl, threading\n" +
		"threading.Thread(target=dpl.wait, args=('later',), kwargs={'state': 'running'}).start()\n" +
		"dpl.claim('q', wait=True)\n"
	const node = "const { claim, wait } = await import('./dpl.mjs')\n" +
		"await Promise.all([wait('later', { state: 'running' }), claim('q', { wait: true })])\n"

	for program, code := range map[string][]string{
		"python3": {"-c", python}, "node": {"--input-type=module", "-e", node},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			strict.Program(t, program)
			w := newWorld(t, bin)
			w.run("dpl-queue", "q", "--create")
			for range 4 {
				worker := w.command(append([]string{program}, code...)...)
				if err := worker.Start(); err != nil {
					t.Fatal(err)
				}
				poll.Until(t, "both wait", func() bool { return len(w.processes()) == 3 })
				worker.Process.Kill()
				worker.Wait()
			}

			poll.Until(t, "nobody waits any more", func() bool { return len(w.processes()) == 0 })
			w.run("dpl-enqueue", "q", "--id", "a", "--", "true")
			got := w.run("dpl-claim", "q", "--participant", "p", "--deadline", "1h")
			if want := "a 1\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
