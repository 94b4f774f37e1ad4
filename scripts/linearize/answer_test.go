package linearize

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A shell runs commands on one ledger.
type shell struct{ bin, ledger string }

// start starts c with more arguments. Its output goes to the two buffers.
func (s shell) start(c command,
	more ...string) (process *exec.Cmd, stdout, stderr *bytes.Buffer, err error) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	process = exec.Command(filepath.Join(s.bin, c.program()), append(c.args(), more...)...)
	process.Env = []string{"DPL_LEDGER=" + s.ledger, "DPL_REPLAY=1", "HOME=" + s.ledger, "PATH=" +
		os.Getenv("PATH")}
	process.Stdout, process.Stderr = stdout, stderr
	return process, stdout, stderr, process.Start()
}

// run runs c until it ends. It returns its answers by operation; a cleanup of all operations has
// many.
func (s shell) run(c command, more ...string) (map[string]answer, error) {
	process, stdout, stderr, err := s.start(c, more...)
	if err != nil {
		return nil, err
	}
	process.Wait()
	return answers(c, process.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
}

// said is a document that a command prints, whichever it is.
type said struct {
	SchemaVersion, Status int
	OperationID, State    string
	Revision              int64
	Changed, Archived     bool
	Crashed               crashed
	Operation             *document
	Operations            []said
	Error                 *struct{ Status int }
}

// crashed is calls, which a heartbeat prints as objects, a cleanup as ids.
type crashed string

func (c *crashed) UnmarshalJSON(text []byte) error {
	var calls []any
	if err := json.Unmarshal(text, &calls); err != nil {
		return err
	}

	for _, call := range calls {
		if object, ok := call.(map[string]any); ok {
			call = object["callId"]
		}
		*c += crashed(fmt.Sprint(call, " "))
	}

	return nil
}

const killed = -1 // exit status of who was

// answers returns what c said, by operation. If it was killed before it had said everything, there
// is one silent answer for c.op.
func answers(c command, status int, stdout, stderr []byte) (map[string]answer, error) {
	switch {
	case len(stdout) > 0 && len(stderr) > 0 && c.verb != "cleanup", status != killed &&
		len(stdout)+len(stderr) == 0:
		return nil, fmt.Errorf("%v: status %d, stdout %q, stderr %q", c, status, stdout, stderr)
	case status == killed && !json.Valid(stdout) && !json.Valid(stderr):
		return map[string]answer{c.op: {silent: true}}, nil
	}

	var s said
	text := stdout
	if len(stdout) == 0 {
		text = stderr
	}
	if err := json.Unmarshal(text, &s); err != nil || s.SchemaVersion != 1 {
		return nil, fmt.Errorf("%v: prints %q, %q: %v", c, stdout, stderr, err)
	}
	if s.Error != nil {
		s.Status = s.Error.Status
	}
	if status != killed && status != s.Status {
		return nil, fmt.Errorf("%v: exits %d, and says %s%s", c, status, stdout, stderr)
	}

	switch {
	case s.Error != nil:
		return map[string]answer{c.op: refused(s.Status)}, nil
	case c.verb == "status":
		shown := s.Operation.operation(s.Archived)
		return map[string]answer{c.op: {shown: &shown}}, nil
	case c.verb == "cleanup":
		all := map[string]answer{}
		for _, one := range s.Operations {
			all[one.OperationID] = one.answer()
		}
		return all, nil
	}

	return map[string]answer{c.op: s.answer()}, nil
}

func (s said) answer() answer {
	return answer{status: s.Status, revision: s.Revision, state: s.State, changed: s.Changed,
		archived: s.Archived, crashed: string(s.Crashed)}
}

// A document is the file of an operation, as far as the model knows it.
type document struct {
	Revision           int64
	State              string
	Aborted            bool
	TerminalHeartbeats int
	LastHeartbeat      time.Time
	Stack              []struct {
		CallID, ParticipantID     string
		SupervisorID, State       *string
		FailOnCrash               *bool
		LastHeartbeat, ReportedAt time.Time
	}
	SupervisorHeartbeats map[string]struct {
		Status, OrphanPolicy string
		LastHeartbeat        time.Time
	}
	Events []struct {
		Revision     int64
		Type, CallID string
	}
}

// operation returns what the model knows of it.
func (d document) operation(inArchive bool) operation {
	o := operation{
		place: here, revision: d.Revision, state: d.State, aborted: d.Aborted,
		passes: d.TerminalHeartbeats, beat: milliseconds(d.LastHeartbeat),
	}

	if inArchive {
		o.place = archived
	}

	for _, f := range d.Stack {
		o.stack = append(o.stack, frame{
			call: f.CallID, participant: f.ParticipantID, supervisor: or(f.SupervisorID, ""),
			contained: !or(f.FailOnCrash, true),
			state:     or(f.State, "active"), beat: milliseconds(f.LastHeartbeat),
			reported: milliseconds(f.ReportedAt),
		})
	}

	for id, s := range d.SupervisorHeartbeats {
		o.supervisors = append(o.supervisors, supervisor{
			id: id, dead: s.Status == "dead", keep: s.OrphanPolicy == "keep",
			beat: milliseconds(s.LastHeartbeat),
		})
	}

	slices.SortFunc(o.supervisors, func(a, b supervisor) int { return cmp.Compare(a.id, b.id) })
	return o
}

func or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// read returns the document at path, and its text.
func read(path string) (document, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return document{}, nil, err
	}

	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return document{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, text, nil
}
