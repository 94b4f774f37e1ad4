//go:build unix

package testscripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

var errNoGroup = errors.New("$DPL_GROUP is not set")

// groupFile returns the path of a file of the group of the script.
func groupFile(ts *testscript.TestScript, suffix string) (string, error) {
	group := ts.Getenv("DPL_GROUP")
	if group == "" {
		return "", errNoGroup
	}
	return filepath.Join(ts.MkAbs(ts.Getenv("DPL_LEDGER")), group+suffix), nil
}

func checkSupervisor(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}

	file, err := groupFile(ts, ".supervisors.json")
	if err != nil {
		return err
	}

	prefix := "supervisors." + args[0] + "."
	fields := []string{file, prefix + "state=" + args[1]}
	for _, arg := range args[2:] {
		fields = append(fields, prefix+arg)
	}

	if err := checkFields(ts, fields); err != nil {
		return fmt.Errorf("%w\n%s", err, entryOf(file, args[0]))
	}

	return nil
}

// entryOf returns what the registry file has of supervisor id.
func entryOf(file, id string) string {
	var registry struct {
		Supervisors map[string]json.RawMessage `json:"supervisors"`
	}
	data, _ := os.ReadFile(file)
	json.Unmarshal(data, &registry)
	return string(registry.Supervisors[id])
}

// checkAlerts owes nothing to the package protocol.
func checkAlerts(ts *testscript.TestScript, want []string) error {
	file, err := groupFile(ts, ".alerts.jsonl")
	if err != nil {
		return err
	}

	data, err := os.ReadFile(file)
	if ignoreMissing(err) != nil {
		return err
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		return fmt.Errorf("%s does not end in a newline", file)
	}

	i := 0
	for line := range strings.Lines(string(data)) {
		alert, err := readAlert(ts, i+1, strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		if i >= len(want) || alert != want[i] && !strings.HasPrefix(alert, want[i]+":") {
			return fmt.Errorf("alert %d is %s, want %q:\n%s", i+1, alert, want, data)
		}
		i++
	}

	if i < len(want) {
		return fmt.Errorf("alert %s is missing:\n%s", want[i], data)
	}

	return nil
}

// readAlert returns TYPE:SUPERVISOR:MESSAGE of a line, which must be that of alert seq.
func readAlert(ts *testscript.TestScript, seq int, line string) (string, error) {
	var alert struct {
		Group      string    `json:"orchestrationGroupId"`
		Seq        int       `json:"seq"`
		Type       string    `json:"type"`
		Supervisor string    `json:"supervisorId"`
		Message    string    `json:"message"`
		Timestamp  time.Time `json:"timestamp"`
	}
	compact := jsontext.Value(line)
	if err := compact.Compact(); err != nil || string(compact) != line {
		return "", fmt.Errorf("no compact JSON: %s", line)
	}
	if err := json.Unmarshal([]byte(line), &alert); err != nil {
		return "", err
	}
	if alert.Seq != seq || alert.Group != ts.Getenv("DPL_GROUP") || alert.Timestamp.IsZero() ||
		!strings.HasPrefix(line, `{"orchestrationGroupId":`) {
		return "", fmt.Errorf("want alert %d of %s, got %s", seq, ts.Getenv("DPL_GROUP"), line)
	}

	return alert.Type + ":" + alert.Supervisor + ":" + alert.Message, nil
}

// recordedPID returns the pid of a supervisor as its registration has it.
func recordedPID(ts *testscript.TestScript, id string) (int, error) {
	r, err := record(ts, id)
	return r.PID, err
}

func record(ts *testscript.TestScript, id string) (recorded, error) {
	file, err := groupFile(ts, ".supervisors.json")
	if err != nil {
		return recorded{}, err
	}

	pids, err := recordedProcesses(file)
	if err == nil && pids[id].PID == 0 {
		err = fmt.Errorf("no pid of %s is recorded", id)
	}
	return pids[id], err
}

func setPID(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	pid, err := recordedPID(ts, args[1])
	ts.Setenv(args[0], strconv.Itoa(pid))
	return err
}

// strike waits for the end only of what is killed: the rest may do with a signal what it likes.
func strike(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 || unix.SignalNum(args[1]) == 0 {
		return errUsage
	}

	service, err := record(ts, args[0])
	if err != nil {
		return err
	}

	pid := service.PID
	if err := syscall.Kill(pid, unix.SignalNum(args[1])); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	if args[1] == "SIGKILL" && !poll.Within(poll.Patience, func() bool { return ended(pid) }) {
		return fmt.Errorf("process %d does not end", pid)
	}
	if args[1] == "SIGKILL" && !poll.Within(poll.Patience, func() bool {
		return ended(service.Keeper.PID) || recordComplete(ts, service.StartID)
	}) {
		return fmt.Errorf("process %d: its end is not recorded", pid)
	}
	return nil
}

// recordComplete reports whether there is no exit record of a start that has yet to be completed.
func recordComplete(ts *testscript.TestScript, start string) bool {
	reserved, _ := filepath.Glob(ts.MkAbs(ts.Getenv("DPL_LEDGER")) + "/exits/*/*~" + start + ".tmp")
	return reserved == nil
}

func ended(pid int) bool {
	_, alive := proc.StartTicks(pid)
	return !alive
}

// countProcesses compares the number of living processes of a supervisor, its children included.
func countProcesses(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}

	group := ts.Getenv("DPL_GROUP")
	ledger := ts.MkAbs(ts.Getenv("DPL_LEDGER"))
	pids := proc.With("DPL_LEDGER="+ledger, "DPL_GROUP="+group, "DPL_SUPERVISOR="+args[0])
	if strconv.Itoa(len(pids)) != args[1] {
		return fmt.Errorf("got %d processes %v of %s, want %s", len(pids), pids, args[0], args[1])
	}
	return nil
}

// recorded is what a registry says of the process of a supervisor.
type recorded struct {
	State   string `json:"state"`
	PID     int    `json:"pid"`
	Process struct {
		StartTicks int64 `json:"startTicks"`
	} `json:"process"`
	StartID string `json:"startId"`
	Keeper  struct {
		PID int `json:"pid"`
	} `json:"keeper"`
	RestartAttempts int `json:"restartAttempts"`
}

func recordedProcesses(file string) (map[string]recorded, error) {
	var registry struct {
		Supervisors map[string]recorded `json:"supervisors"`
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &registry)
	}
	return registry.Supervisors, err
}
