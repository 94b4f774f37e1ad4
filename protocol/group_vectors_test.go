package protocol

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// groupVector is one file of spec/vectors/groups (spec §12).
type groupVector struct {
	Comment   string     `json:"comment"`
	Section   string     `json:"section"`
	Given     groupFiles `json:"given"`
	GivenText struct {
		Orchestrator *string `json:"orchestrator"`
		Supervisors  *string `json:"supervisors"`
	} `json:"givenText"`
	Seen struct {
		vectorSeen `json:",inline"`
		Survivors  []int `json:"survivors"`
	} `json:"seen"`
	Do struct {
		Verb                 string          `json:"verb"`
		Supervisor           string          `json:"supervisor"`
		By                   string          `json:"by"`
		Request              bool            `json:"request"`
		Fresh                bool            `json:"fresh"`
		PID                  int             `json:"pid"`
		Process              vectorProcess   `json:"process"`
		StartInfo            json.RawMessage `json:"startInfo"`
		Restartable          *bool           `json:"restartable"`
		Dependencies         *[]string       `json:"dependencies"`
		KillTimeoutMs        *int64          `json:"killTimeoutMs"`
		Heartbeats           *bool           `json:"heartbeats"`
		Only                 bool            `json:"only"`
		All                  bool            `json:"all"`
		Owner                string          `json:"owner"`
		State                string          `json:"state"`
		Failover             bool            `json:"failover"`
		Hook                 bool            `json:"hook"`
		LastAlert            int64           `json:"lastAlert"`
		HeartbeatIntervalMs  int64           `json:"heartbeatIntervalMs"`
		StalenessThresholdMs int64           `json:"stalenessThresholdMs"`
		Starts               map[string]struct {
			PID     int           `json:"pid"`
			Process vectorProcess `json:"process"`
			StartID string        `json:"startId"`
			Keeper  vectorProcess `json:"keeper"`
			Error   string        `json:"error"`
		} `json:"starts"`
		Code     ExitCode          `json:"code"`
		Status   int               `json:"status"`
		Error    string            `json:"error"`
		Failed   map[string]string `json:"failed"`
		Appended int64             `json:"appended"`

		vectorSaying    `json:",inline"`
		vectorObserving `json:",inline"`
	} `json:"do"`
	observed  `json:",inline"`
	Then      groupFiles     `json:"then"`
	Actions   []vectorAction `json:"actions"`
	Unchanged bool           `json:"unchanged"`
	StandBy   bool           `json:"standby"`
	Status    int            `json:"status"`
	Again     []string       `json:"again"`
	Refused   string         `json:"refused"`
	Path      *string        `json:"path"`

	Remembered *vectorSightings `json:"remembered"`
}

type groupFiles struct {
	Orchestrator json.RawMessage `json:"orchestrator"`
	Supervisors  json.RawMessage `json:"supervisors"`
}

type vectorAction struct {
	Action       string     `json:"action"`
	SupervisorID string     `json:"supervisorId"`
	Attempt      int        `json:"attempt"`
	Reason       string     `json:"reason"`
	Signal       SignalName `json:"signal"`
	To           Scope      `json:"to"`
	PID          int        `json:"pid"`
}

var groupRefusals = map[string]error{
	"corrupt": ErrCorrupt, "newerVersion": ErrNewerVersion, "noSupervisor": ErrNoService,
	"cycle":       ErrCycle,
	"noStartInfo": ErrNoStartInfo, "shuttingDown": ErrShuttingDown, "otherProcess": ErrOtherProcess,
	"stillRunning": ErrStillRunning, "hasDependents": ErrHasDependents, "blocked": ErrBlocked,
	"exhausted": ErrExhausted,
}

func groupVectorFiles(tb testing.TB) []string {
	dir := os.Getenv("DPL_VECTORS")
	if dir == "" {
		dir = "../spec/vectors"
	}

	files, err := filepath.Glob(filepath.Join(dir, "groups", "*.json"))
	if err != nil || len(files) < 40 {
		tb.Fatalf("found %d vectors of groups (%v), want at least 40", len(files), err)
	}
	return files
}

func TestGroupVectors(t *testing.T) {
	for _, file := range groupVectorFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v groupVector
			readVector(t, file, &v)
			if !strings.HasPrefix(filepath.Base(file), v.Do.Verb+"-") {
				t.Errorf("the name does not begin with the verb %s", v.Do.Verb)
			}
			v.run(t)
		})
	}
}

func (v *groupVector) run(t *testing.T) {
	given := v.Given
	for _, text := range []struct {
		from *string
		to   *json.RawMessage
	}{{v.GivenText.Orchestrator, &given.Orchestrator}, {v.GivenText.Supervisors,
		&given.Supervisors}} {
		if text.from != nil {
			*text.to = json.RawMessage(*text.from)
		}
	}

	g, err := given.decode(v.GivenText.Orchestrator != nil, v.GivenText.Supervisors != nil)
	if err != nil {
		v.checkRefused(t, err)
		return
	}

	seen := v.observation(t)
	seen.sighted(func(s Sightings) Sightings { return s.SightGroup(g, seen) })
	if v.Do.observes(v.Do.Verb) {
		outcome, err := g.WaitReady(v.Do.Supervisor, seen)
		if v.Do.Verb == "wait" && err != nil {
			v.checkRefused(t, err)
			return
		}
		v.check(t, v.Do.Verb, outcome, g.Lines(v.Do.Since))
		return
	}

	before := g.Orchestrator.Encode() + g.Registry.Encode()
	after, err := v.do(t, g, seen)
	if err == nil {
		v.Remembered.check(t, seen,
			func(s Sightings) Sightings { return s.SightGroup(after, seen) })
	}
	if untouched := g.Orchestrator.Encode() + g.Registry.Encode(); untouched != before {
		t.Error("the group that was given has changed")
	}

	unchanged := after.Orchestrator.Encode()+after.Registry.Encode() == before
	switch {
	case err != nil:
		v.checkRefused(t, err)
		if !unchanged {
			t.Error("refused, but changed")
		}
	case brokenInvariants(g) == "" && brokenInvariants(after) != "":
		t.Errorf("breaks invariants: %s", brokenInvariants(after))
	case v.Refused != "":
		t.Errorf("not refused; after:\n%s", after.Registry.Encode())
	case v.Unchanged || v.StandBy:
		if !unchanged || after.Registry.Revision != g.Registry.Revision {
			t.Errorf("changed:\n%s", after.Registry.Encode())
		}
	default:
		v.checkThen(t, after)
	}
}

// decode returns the group of f. What is absent counts as missing, unless it is text.
func (f groupFiles) decode(orchestratorText, supervisorsText bool) (g Group, err error) {
	g = CreateGroup("g")
	if o := string(f.Orchestrator); orchestratorText || o != "" && o != "null" {
		if g.Orchestrator, err = DecodeOrchestrator(o); err != nil {
			return g, err
		}
	}

	if r := string(f.Supervisors); supervisorsText || r != "" && r != "null" {
		g.Registry, err = DecodeRegistry(r)
	}
	return g, err
}

func (v *groupVector) checkRefused(t *testing.T, err error) {
	want, ok := groupRefusals[v.Refused]
	if !ok || !errors.Is(err, want) {
		t.Errorf("refused: %v, want %q", err, v.Refused)
	}
	if e, ok := errors.AsType[*DecodeError](err); ok && v.Path != nil && e.Path != *v.Path {
		t.Errorf("path %q, want %q", e.Path, *v.Path)
	}
}

func (v *groupVector) checkThen(t *testing.T, after Group) {
	want, err := v.Then.decode(false, false)
	if err != nil {
		t.Fatalf("then: %v", err)
	}

	check := func(raw json.RawMessage, got, want string, again func(string) (string, error)) {
		if len(raw) == 0 || string(raw) == "null" {
			return
		}
		if got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
		if place := lost(jsonValue(t, string(raw)), jsonValue(t, got), ""); place != "" &&
			!groupDefault(place) {
			t.Errorf("what is written has another value, or none, at %s:\n%s", place, got)
		}
		if text, err := again(got); err != nil || text != got {
			t.Errorf("decoded again (%v):\n%s\nwant:\n%s", err, text, got)
		}
	}

	check(v.Then.Orchestrator, after.Orchestrator.Encode(), want.Orchestrator.Encode(),
		func(text string) (string, error) {
			o, err := DecodeOrchestrator(text)
			return o.Encode(), err
		})

	check(v.Then.Supervisors, after.Registry.Encode(), want.Registry.Encode(),
		func(text string) (string, error) {
			r, err := DecodeRegistry(text)
			return r.Encode(), err
		})
}

// groupDefault reports whether the member at place may be left out: it has its default, or it is a
// beat or process that counts for nothing.
func groupDefault(place string) bool {
	for _, name := range []string{"/killTimeoutMs", "/logMaxBytes", "/logKeep", "/attempt",
		"/alertsGiven", "/beat", "/termSentBeat", "/process"} {
		if strings.HasSuffix(place, name) {
			return true
		}
	}
	return false
}

func (v *groupVector) observation(t *testing.T) Observation {
	seen := v.Seen.observation(t)
	seen.Survived = func(s *Service) bool { return slices.Contains(v.Seen.Survivors, s.PID) }
	return seen
}

func (v *groupVector) do(t *testing.T, g Group, seen Observation) (Group, error) {
	by, owner := v.Do.By, v.Do.Owner
	if by == "" {
		by = "test"
	}
	if owner == "" {
		owner = "me"
	}

	switch v.Do.Verb {
	case "decode":
		return g, nil
	case "register":
		return g.Register(v.registration(t, by), seen)
	case "remove":
		return g.Remove(v.Do.Supervisor, by, seen)
	case "beat":
		after, verdict, err := g.BeatService(v.process(), v.Do.saying(false), seen)
		if status := vectorStatus(verdict); err == nil && status != v.Status {
			t.Errorf("status %d, want %d", status, v.Status)
		}
		return after, err
	case "end":
		a := ServiceProcess{Service: v.Do.Supervisor, PID: v.Do.PID, Process: Process(v.Do.Process)}
		return g.EndService(a, v.Do.Code, v.Do.Status, v.Do.Error, seen)
	case "shutdown":
		if v.Do.All {
			return g.ShutdownAll(by, seen)
		}
		return g.Shutdown(v.Do.Supervisor, by, v.Do.Only, seen)
	case "restart":
		return v.restart(t, g, by, seen)
	case "pass":
		return v.pass(t, g, owner, seen)
	case "result":
		r := Result{Failed: v.Do.Failed, Appended: v.Do.Appended}
		for _, s := range g.Registry.Services {
			if _, failed := v.Do.Failed[s.ID]; s.Starting && !failed {
				r.Started = append(r.Started, s.ID)
			}
		}
		return g.Result(owner, r, seen), nil
	}

	t.Fatalf("unknown verb %q", v.Do.Verb)
	return g, nil
}

func (v *groupVector) restart(t *testing.T, g Group, by string, seen Observation) (Group, error) {
	after, again, err := g.Restart(v.Do.Supervisor, by, v.Do.Only, seen)
	if v.Do.All {
		after, again, err = g.RestartAll(by, seen)
	}
	if v.Again != nil && !slices.Equal(again, v.Again) {
		t.Errorf("again %v, want %v", again, v.Again)
	}
	return after, err
}

func (v *groupVector) process() ServiceProcess {
	return ServiceProcess{
		Service: v.Do.Supervisor, PID: v.Do.PID, Process: Process(v.Do.Process),
		Heartbeats: v.Do.Heartbeats != nil && *v.Do.Heartbeats,
	}
}

func (v *groupVector) registration(t *testing.T, by string) Registration {
	r := Registration{
		Service: v.Do.Supervisor, By: by, Request: v.Do.Request, Fresh: v.Do.Fresh, PID: v.Do.PID,
		Process:   Process(v.Do.Process),
		Readiness: v.Do.Readiness, Restartable: v.Do.Restartable, Dependencies: v.Do.Dependencies,
		Heartbeats: v.Do.Heartbeats,
	}

	if v.Do.KillTimeoutMs != nil {
		timeout := time.Duration(*v.Do.KillTimeoutMs) * time.Millisecond
		r.KillTimeout = &timeout
	}

	if len(v.Do.StartInfo) > 0 {
		file, err := DecodeRegistry(`{"supervisors":{"x":{"state":"registered","startInfo":` +
			string(v.Do.StartInfo) + `}}}`)
		if err != nil {
			t.Fatal(err)
		}
		r.StartInfo = file.Services[0].StartInfo
	}

	return r
}

func (v *groupVector) pass(t *testing.T, g Group, owner string, seen Observation) (Group, error) {
	pid := v.Do.PID
	if pid == 0 {
		pid = 1
	}

	d, err := g.Pass(PassRequest{
		Owner: owner, PID: pid, State: OrchestratorState(v.Do.State), Failover: v.Do.Failover,
		Hook: v.Do.Hook, LastAlert: v.Do.LastAlert,
		HeartbeatInterval:  time.Duration(v.Do.HeartbeatIntervalMs) * time.Millisecond,
		StalenessThreshold: time.Duration(v.Do.StalenessThresholdMs) * time.Millisecond,
	}, seen)

	if err != nil {
		return g, err
	}
	if d.StandBy != v.StandBy {
		t.Errorf("stands by: %v, want %v", d.StandBy, v.StandBy)
	}

	var actions []vectorAction
	for i, a := range d.Actions {
		if a, signals := a.(Signal); signals {
			actions = append(actions, vectorAction{Action: "signal", SupervisorID: a.ServiceID,
				Signal: a.Name, To: a.To, PID: a.PID})
			continue
		}

		a := a.(Start)
		actions = append(actions, vectorAction{Action: "start", SupervisorID: a.ServiceID,
			Attempt: a.Attempt, Reason: a.Reason})
		switch start, ok := v.Do.Starts[a.ServiceID]; {
		case !ok:
			d.Spawned(a.ServiceID, 1000+i, Process{}, "", Process{})
		case start.Error != "":
			d.NotSpawned(a.ServiceID, start.Error)
		default:
			d.Spawned(a.ServiceID, start.PID, Process(start.Process), start.StartID,
				Process(start.Keeper))
		}
	}

	if !reflect.DeepEqual(actions, v.Actions) && len(actions)+len(v.Actions) > 0 {
		t.Errorf("actions %+v, want %+v", actions, v.Actions)
	}

	return d.Group(), nil
}
