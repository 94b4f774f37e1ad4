//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// TestManyIdleCalls runs many idle calls of one operation. They all get in, they all stay alive,
// and together they make few edits, each of which rewrites the file of them all: usually two in a
// second, which is a tenth of one processor. With DPL_SOAK there are 400, for ten minutes.
func TestManyIdleCalls(t *testing.T) {
	t.Parallel()
	if at, _ := os.Readlink("/proc/self/ns/pid"); at != "pid:["+observe.FirstPIDNamespace+"]" {
		t.Skip("in a container heartbeats are not rare, however many calls there are (spec §15.1)")
	}
	calls, idle := 150, 12*time.Second
	if os.Getenv("DPL_SOAK") != "" {
		calls, idle = 400, 10*time.Minute
	}

	bin, dir := built(t), filepath.Join(t.TempDir(), "ledger")
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
		cmd.Env = append(os.Environ(), "DPL_LEDGER="+dir, "DPL_OP=many")
		cmd.Stderr = os.Stderr
		return cmd
	}

	if err := run("dpl-push", "--call", "main", "--participant", "main", "--pid",
		strconv.Itoa(os.Getpid())).Run(); err != nil {
		t.Fatal(err)
	}

	var all []*exec.Cmd
	for i := range calls {
		cmd := run("dpl-run", "--call", fmt.Sprint("call", i), "--", "sleep", "1d")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	defer func() {
		for _, cmd := range all { // the keeper of one that is killed would still write to the ledger
			cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, cmd := range all {
			cmd.Wait()
		}
	}()

	l, err := fileops.Open(dir, fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}

	read := func() protocol.Operation {
		op, _, err := l.ReadOperation("many")
		if err != nil {
			t.Fatal(err)
		}
		return op
	}

	if !poll.Within(3*time.Minute, func() bool { return len(read().Stack) > calls }) {
		t.Fatalf("%d of %d calls are in the stack", len(read().Stack)-1, calls)
	}

	// The first heartbeat of an early call comes before it knows how many they are.
	until(t, time.Now().Add(read().StalenessThreshold/2))
	start, before, revision := time.Now(), ticksOf(t, all), read().Revision
	until(t, start.Add(idle))
	took, wall := time.Duration(ticksOf(t, all)-before)*10*time.Millisecond, time.Since(start)
	op := read()
	edits := op.Revision - revision
	t.Logf("%d calls, idle for %v: %v of a processor, %d edits", calls, wall, took, edits)
	if most := int64(4 * wall.Seconds()); edits > most {
		t.Errorf("%d idle calls made %d edits in %v, want %d at most", calls, edits, wall, most)
	}

	for _, f := range op.Stack {
		if !f.State.Live() {
			t.Errorf("call %s is %s: %+v", f.CallID, f.State, f.Crash)
		}
	}
}

// until waits for a time that the test is about.
func until(t *testing.T, end time.Time) {
	t.Helper()
	<-time.After(time.Until(end))
}

// ticksOf returns the processor time of processes in ticks of 10 ms.
func ticksOf(t *testing.T, all []*exec.Cmd) (sum int) {
	t.Helper()
	for _, cmd := range all {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}

		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		for _, field := range fields[11:13] {
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}

	return sum
}
