package start

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"

	"github.com/dpl-project/dpl/cmd/internal/process"
)

// A process that never answers is given up, and killed if it is ours. All cases run at once, and in
// one slot for parallel tests, because each waits 10 seconds.
func TestPatience(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until patience is lost")
	}

	t.Parallel()
	var wait sync.WaitGroup
	for name, end := range map[string]func(*Gate) error{"Release": (*Gate).Release,
		"Cancel": (*Gate).Cancel} {
		wait.Go(func() {
			t.Run(name, func(t *testing.T) { testPatienceWithStage(t, end, name == "Release") })
		})
	}

	for unit, want := range map[string]string{
		"dpl-main-absent.service": "no stage has connected",
		"dpl-main-silent.service": "systemd-run: signal: killed: asking",
	} {
		wait.Go(func() {
			t.Run(unit, func(t *testing.T) { testPatienceWithUnit(t, unit, want) })
		})
	}

	wait.Wait()
}

func testPatienceWithStage(t *testing.T, end func(*Gate) error, silent bool) {
	s := command(t, "echo", "hello")
	g := spawned(t, s)
	if err := process.SignalProcess(g.Process(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}

	begin := time.Now()
	if err := end(g); errors.Is(err, ErrSilent) != silent || !silent && err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < patience {
		t.Errorf("it took %v", took)
	}

	proctest.MustBeReaped(t, g.Process().PID)
	mustHaveRunNothing(t, s)
}

func testPatienceWithUnit(t *testing.T, unit, want string) {
	dir := writeSystemdRun(t, `
		[[ $unit == *silent* ]] || exit 0
		sleep 15 & echo asking >&2; wait # the child keeps stderr`)

	s := command(t, "echo")
	arg, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("/proc/self/exe", unit, string(arg))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if c := proctest.StartCommand(t, cmd, "unit"); !strings.Contains(c.First, want) {
		t.Errorf("got %s, want %s", c.First, want)
	}

	mustHaveRunNothing(t, s)
}

// spawnUnit spawns its arguments, a unit and a Command in JSON, and says why it could not.
func spawnUnit() string {
	var s Command
	if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
		return err.Error()
	}

	g, err := SpawnUnit(s, Unit{Name: os.Args[1], User: true})
	if err == nil {
		g.Cancel()
		return "spawned"
	}
	return err.Error()
}
