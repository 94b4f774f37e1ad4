package group_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/invariants"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// vector is one file of spec/vectors/groups (spec §12).
type vector struct {
	Comment   string `json:"comment"`
	Section   string `json:"section"`
	Given     files  `json:"given"`
	GivenText struct {
		Orchestrator *string `json:"orchestrator"`
		Supervisors  *string `json:"supervisors"`
	} `json:"givenText"`
	Seen struct {
		vectors.Seen `json:",inline"`
		Survivors    []int `json:"survivors"`
		Kept         []struct {
			Supervisor string `json:"supervisorId"`
			StartID    string `json:"startId"`
			PID        int    `json:"pid"`
		} `json:"kept"`
		Uses map[string]struct {
			CPUMs int64 `json:"cpuMs"`
			RSSKb int64 `json:"rssKb"`
		} `json:"uses"`
	} `json:"seen"`
	Do struct {
		Verb                 string            `json:"verb"`
		Supervisor           string            `json:"supervisor"`
		By                   string            `json:"by"`
		Request              bool              `json:"request"`
		Fresh                bool              `json:"fresh"`
		PID                  int               `json:"pid"`
		Process              vectors.Process   `json:"process"`
		StartInfo            json.RawMessage   `json:"startInfo"`
		Restartable          *bool             `json:"restartable"`
		Dependencies         *[]string         `json:"dependencies"`
		Restart              string            `json:"restart"`
		Completed            *[]string         `json:"dependenciesCompleted"`
		KillTimeoutMs        *int64            `json:"killTimeoutMs"`
		Heartbeats           *bool             `json:"heartbeats"`
		AlertOn              string            `json:"alertOn"`
		KeepEndedMs          int64             `json:"keepEndedMs"`
		Services             json.RawMessage   `json:"services"`
		Supervision          json.RawMessage   `json:"supervision"`
		Environment          map[string]string `json:"environment"`
		Prune                bool              `json:"prune"`
		Progress             bool              `json:"progress"`
		Only                 bool              `json:"only"`
		All                  bool              `json:"all"`
		Owner                string            `json:"owner"`
		State                string            `json:"state"`
		Failover             bool              `json:"failover"`
		Hook                 bool              `json:"hook"`
		LastAlert            int64             `json:"lastAlert"`
		HeartbeatIntervalMs  int64             `json:"heartbeatIntervalMs"`
		StalenessThresholdMs int64             `json:"stalenessThresholdMs"`
		Strategy             policy.Strategy   `json:"strategy"`
		Window               *int              `json:"window"`
		Room                 *int              `json:"room"`
		Started              []string          `json:"started"`
		Cuts                 []struct {
			SupervisorID string `json:"supervisorId"`
			Bytes        int64  `json:"bytes"`
		} `json:"cuts"`
		Umask             string             `json:"umask"`
		Intensity         int                `json:"intensity"`
		IntensityPeriodMs *int64             `json:"intensityPeriodMs"`
		OnIntensity       policy.OnIntensity `json:"onIntensity"`
		Rules             rules              `json:"rules"`
		AutoShutdown      string             `json:"autoShutdown"`
		OnExit            string             `json:"onExit"`
		Log               string             `json:"log"`
		Checks            []struct {
			Supervisor string `json:"supervisorId"`
			StartID    string `json:"startId"`
			Passed     bool   `json:"passed"`
			Output     string `json:"output"`
			CannotRun  string `json:"cannotRun"`
		} `json:"checks"`
		Prompt *struct {
			Supervisor string `json:"supervisorId"`
			StartID    string `json:"startId"`
		} `json:"prompt"`
		OnDead      string `json:"onDead"`
		Significant *bool  `json:"significant"`
		Resume      bool   `json:"resume"`
		Starts      map[string]struct {
			PID     int             `json:"pid"`
			Process vectors.Process `json:"process"`
			StartID string          `json:"startId"`
			Keeper  vectors.Process `json:"keeper"`
			Device  int64           `json:"logDevice"`
			Inode   int64           `json:"logInode"`
			Error   string          `json:"error"`
			Short   bool            `json:"short"`
		} `json:"starts"`
		Text      string   `json:"text"`
		Completes bool     `json:"completed"`
		Spend     spending `json:"spend"`
		Start     string   `json:"start"`
		Violation string   `json:"violation"`
		Detail    string   `json:"detail"`
		// by startId
		Exits map[string]struct {
			Complete   bool            `json:"complete"`
			Record     json.RawMessage `json:"record"`
			Unreadable bool            `json:"unreadable"`
		} `json:"exits"`
		Children   map[string]vectorChild `json:"children"`
		Parent     string                 `json:"parent"`
		Generation int64                  `json:"generation"`
		Links      map[string]string      `json:"links"`

		Code     policy.ExitCode   `json:"code"`
		Status   int               `json:"status"`
		Error    string            `json:"error"`
		CPUMs    int64             `json:"cpuMs"`
		MaxRSSKb int64             `json:"maxRssKb"`
		Failed   map[string]string `json:"failed"`
		Short    []string          `json:"short"`
		Terminal []string          `json:"terminal"`
		Appended int64             `json:"appended"`
		Lines    []json.RawMessage `json:"lines"`
		Prompted bool              `json:"prompted"`
		Seq      int64             `json:"seq"`
		Again    bool              `json:"again"`
		ForMs    int64             `json:"forMs"`

		vectors.Saying `json:",inline"`
		For            string `json:"for"`
		Since          int64  `json:"since"`
	} `json:"do"`
	vectors.Observed `json:",inline"`
	Then             files          `json:"then"`
	Actions          []vectorAction `json:"actions"`
	Unchanged        bool           `json:"unchanged"`
	StandBy          bool           `json:"standby"`
	Status           int            `json:"status"`
	Again            []string       `json:"again"`
	Plan             []vectorPlan   `json:"plan"`
	Removed          []string       `json:"removed"`
	Rotate           []string       `json:"rotate"`
	Needed           []string       `json:"needed"`
	Gives            []vectorGift   `json:"gives"`
	UpTo             int64          `json:"upTo"`
	Refused          string         `json:"refused"`
	Line             int            `json:"line"` // with the refusal badLine

	Environment map[string]string `json:"environment"`

	Path *string `json:"path"`

	Remembered *vectors.Sightings `json:"remembered"`
}

type files struct {
	Orchestrator json.RawMessage `json:"orchestrator"`
	Supervisors  json.RawMessage `json:"supervisors"`
}

type vectorAction struct {
	Action       string           `json:"action"`
	SupervisorID string           `json:"supervisorId"`
	Attempt      int              `json:"attempt"`
	Reason       string           `json:"reason"`
	Signal       group.SignalName `json:"signal"`
	To           plan.Scope       `json:"to"`
	PID          int              `json:"pid"`
	Group        string           `json:"group"`
	Generation   int64            `json:"generation"`
}

// A vectorGift is an alert that a hook gets.
type vectorGift struct {
	Seq int64 `json:"seq"`
	Try int   `json:"try"`
}

type vectorPlan struct {
	SupervisorID string              `json:"supervisorId"`
	Action       group.PlannedChange `json:"action"`
	Members      []string            `json:"members"`
	AfterStop    bool                `json:"afterStop"`
}

// rules are rules of a group; nil are not given.
type rules []struct {
	Match  string            `json:"match"`
	Action policy.RuleAction `json:"action"`
}

func (given rules) all() (all []policy.Rule) {
	if given == nil {
		return nil
	}
	all = []policy.Rule{}
	for _, r := range given {
		all = append(all, policy.Rule{Match: r.Match, Action: r.Action})
	}
	return all
}

// spending is an object of amounts.
type spending map[string]int64

// amounts returns all in the order of their names.
func (all spending) amounts() (amounts []policy.Amount) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		amounts = append(amounts, policy.Amount{Name: name, N: all[name]})
	}
	return amounts
}

var refusals = map[string]error{
	"corrupt": wire.ErrCorrupt, "newerVersion": wire.ErrNewerVersion,
	"noSupervisor": group.ErrNoService,
	"cycle":        group.ErrCycle,
	"noDependency": group.ErrNoDependency,
	"noStartInfo":  group.ErrNoStartInfo, "shuttingDown": group.ErrShuttingDown,
	"otherProcess": observe.ErrOtherProcess, "notReady": observe.ErrNotReady,
	"stillRunning": group.ErrStillRunning, "hasDependents": group.ErrHasDependents,
	"groupEnded": group.ErrGroupEnded, "significant": group.ErrSignificant,
	"blocked": group.ErrBlocked, "inMaintenance": group.ErrInMaintenance, "twoClasses": group.ErrTwoClasses,
	"tooManyNames": group.ErrTooManyNames,
	"otherStart":   group.ErrOtherStart,
	"otherParent":  group.ErrOtherParent,
	"tree":         group.ErrTree,
	"twoMachines":  group.ErrTwoMachines,
	"badLine":      group.ErrBadLine,
	"exhausted":    wire.ErrExhausted,
}

func TestVectors(t *testing.T) {
	for _, file := range vectors.Files(t, "../..", "groups", 40) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v vector
			vectors.Read(t, file, &v)
			if !strings.HasPrefix(filepath.Base(file), v.Do.Verb+"-") {
				t.Errorf("the name does not begin with the verb %s", v.Do.Verb)
			}
			v.run(t)
		})
	}
}

func (v *vector) run(t *testing.T) {
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
	vectors.Sight(&seen, g.Times)
	if vectors.Observes(v.Do.Verb) {
		outcome := g.WaitReady(v.Do.Supervisor, seen)
		if v.Do.For == "ended" {
			outcome, err = g.WaitEnded(v.Do.Supervisor)
		}
		if v.Do.Verb == "wait" && err != nil {
			v.checkRefused(t, err)
			return
		}
		v.Check(t, v.Do.Verb, outcome, g.Lines(v.Do.Since))
		return
	}

	before := g.Orchestrator.Encode() + g.Registry.Encode()
	after, err := invariants.Check(t.Errorf, g, func(g group.Group) (group.Group, error) {
		return v.do(t, g, seen)
	})
	if err == nil {
		v.Remembered.Check(t, seen, after.Times)
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
func (f files) decode(orchestratorText, supervisorsText bool) (g group.Group, err error) {
	g = group.Create("g")
	if o := string(f.Orchestrator); orchestratorText || o != "" && o != "null" {
		if g.Orchestrator, err = group.DecodeOrchestrator(o); err != nil {
			return g, err
		}
	}

	if r := string(f.Supervisors); supervisorsText || r != "" && r != "null" {
		g.Registry, err = group.DecodeRegistry(r)
	}
	return g, err
}

func (v *vector) checkRefused(t *testing.T, err error) {
	want, ok := refusals[v.Refused]
	if !ok || !errors.Is(err, want) {
		t.Errorf("refused: %v, want %q", err, v.Refused)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && v.Path != nil && e.Path != *v.Path {
		t.Errorf("path %q, want %q", e.Path, *v.Path)
	}
}

func (v *vector) checkThen(t *testing.T, after group.Group) {
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
		if place := vectors.Lost(t, string(raw), got); place != "" &&
			!isDefault(place) {
			t.Errorf("what is written has another value, or none, at %s:\n%s", place, got)
		}
		if text, err := again(got); err != nil || text != got {
			t.Errorf("decoded again (%v):\n%s\nwant:\n%s", err, text, got)
		}
	}

	check(v.Then.Orchestrator, after.Orchestrator.Encode(), want.Orchestrator.Encode(),
		func(text string) (string, error) {
			o, err := group.DecodeOrchestrator(text)
			return o.Encode(), err
		})

	check(v.Then.Supervisors, after.Registry.Encode(), want.Registry.Encode(),
		func(text string) (string, error) {
			r, err := group.DecodeRegistry(text)
			return r.Encode(), err
		})
}

// isDefault reports whether the member at place may be left out: it has its default, or it is a
// beat or process that counts for nothing.
func isDefault(place string) bool {
	for _, name := range []string{"/killTimeoutMs", "/alertOn", "/logMaxBytes", "/logKeep", "/logCompress",
		"/attempt", "/alertsGiven", "/onDead", "/significant", "/supervision/state",
		"/autoShutdown", "/onExit", "/supervision/log", "/restart", "/dependenciesCompleted", "/exitStatus",
		"/retries", "/spent", "/spentTotal", "/violations", "/persistentRow",
		"/restarts", "/backoffIntervalsMs", "/jitterPercent", "/beat", "/termSentBeat", "/startedBeat",
		"/progressBeat", "/process"} {
		if strings.HasSuffix(place, name) {
			return true
		}
	}
	return false
}

func (v *vector) observation(t *testing.T) observe.Observation {
	seen := v.Seen.Observation(t)
	seen.Used = func(leader observe.Process, _ string, _ observe.Process) (observe.Usage, bool) {
		u, known := v.Seen.Uses[strconv.Itoa(leader.PID)]
		return observe.Usage{CPU: wire.Milliseconds(u.CPUMs), MaxRSS: u.RSSKb}, known
	}
	seen.Kept = func(_, service, startID string) int {
		for _, k := range v.Seen.Kept {
			if k.Supervisor == service && k.StartID != startID {
				return k.PID
			}
		}
		return 0
	}
	seen.Survived = func(leader observe.Process, _ string, _ observe.Process) bool {
		return slices.Contains(v.Seen.Survivors, leader.PID)
	}
	return seen
}

func (v *vector) do(t *testing.T, g group.Group, seen observe.Observation) (group.Group, error) {
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
	case "registerAll":
		return v.registerAll(t, g, by, seen)
	case "tidy":
		after, removed, err := g.Tidy(by, seen)
		if err == nil && !slices.Equal(removed, v.Removed) {
			t.Errorf("removed %v, want %v", removed, v.Removed)
		}
		return after, err
	case "resume":
		return g.Resume(by, seen)
	case "beginGroup":
		return g.BeginGroup(parent(v.Do.Parent, v.Do.Generation), by, seen)
	case "endGroup":
		return g.EndGroup(parent(v.Do.Parent, v.Do.Generation), by, seen)
	case "checkLinks":
		return g, v.checkLinks(t, g)
	case "environment":
		return g, v.environment(t)
	case "remove":
		return g.Remove(v.Do.Supervisor, by, seen)
	case "beat":
		after, verdict, err := g.BeatService(v.process(), v.Do.Report(false), seen)
		if status := vectors.Status(verdict); err == nil && status != v.Status {
			t.Errorf("status %d, want %d", status, v.Status)
		}
		return after, err
	case "end":
		a := group.ServiceProcess{Service: v.Do.Supervisor, PID: v.Do.PID,
			Process: observe.Process(v.Do.Process)}
		return g.EndService(a, policy.Exit{
			Code: v.Do.Code, Status: v.Do.Status, Error: v.Do.Error,
			CPU: wire.Milliseconds(v.Do.CPUMs), MaxRSS: v.Do.MaxRSSKb,
		}, seen)
	case "report":
		f := group.Finding{Service: v.Do.Supervisor, Spend: v.Do.Spend.amounts(),
			Violation: v.Do.Violation, Detail: v.Do.Detail}
		if v.Do.Start != "" {
			f.Starts = []string{v.Do.Start}
		}
		after, _, err := g.Report(f, by, seen)
		return after, err
	case "continue":
		return g.Continue(v.Do.Supervisor, by, seen)
	case "shutdown":
		if v.Do.All {
			return g.ShutdownAll(by, v.exit(t), seen)
		}
		return g.Shutdown(v.Do.Supervisor, by, v.Do.Only, v.exit(t), seen)
	case "restart":
		return v.restart(t, g, by, seen)
	case "pass":
		return v.pass(t, g, owner, seen)
	case "give":
		v.give(t, g, seen)
		return g, nil
	case "given":
		return g.Given(v.Do.Seq, v.Do.Again, seen)
	case "logsCut":
		var cuts []group.LogCut
		for _, c := range v.Do.Cuts {
			cuts = append(cuts, group.LogCut{ServiceID: c.SupervisorID, Bytes: c.Bytes})
		}
		return g.LogsCut(cuts, by, seen)
	case "maintain":
		return g.Maintain(v.Do.Supervisor, by, wire.Milliseconds(v.Do.ForMs), seen)
	case "silence":
		return g.Silence(v.Do.Supervisor, by, wire.Milliseconds(v.Do.ForMs), seen)
	case "result":
		r := plan.Result{Failed: make(map[string]group.StartFailure), Appended: v.Do.Appended}
		for id, cause := range v.Do.Failed {
			r.Failed[id] = failure(cause, slices.Contains(v.Do.Short, id),
				slices.Contains(v.Do.Terminal, id))
		}
		for _, s := range g.Registry.Services {
			if _, failed := v.Do.Failed[s.ID]; s.Starting && !failed {
				r.Started = append(r.Started, s.ID)
			}
		}
		return plan.Record(g, owner, r, seen), nil
	}

	t.Fatalf("unknown verb %q", v.Do.Verb)
	return g, nil
}

// give checks which alerts the hook of g gets.
func (v *vector) give(t *testing.T, g group.Group, seen observe.Observation) {
	var lines []group.AlertLine
	for _, line := range v.Do.Lines {
		var alert struct{ Seq int64 }
		if err := json.Unmarshal(line, &alert); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, group.AlertLine{Seq: alert.Seq, Text: string(line)})
	}

	var gives []vectorGift
	alerts, upTo := g.Give(lines, v.Do.Prompted, seen)
	if upTo != v.UpTo {
		t.Errorf("up to %d, want %d", upTo, v.UpTo)
	}
	for _, line := range alerts {
		gives = append(gives, vectorGift{line.Seq, line.Try})
	}
	if !reflect.DeepEqual(gives, v.Gives) && len(gives)+len(v.Gives) > 0 {
		t.Errorf("gives %v, want %v", gives, v.Gives)
	}
}

func failure(cause string, short, terminal bool) group.StartFailure {
	f := group.StartFailure{Cause: cause}
	switch {
	case short:
		f.Class = policy.Tempfail
	case terminal:
		f.Class = policy.Terminal
	}
	return f
}

func (v *vector) restart(t *testing.T, g group.Group, by string, seen observe.Observation) (
	group.Group, error,
) {
	after, again, err := g.Restart(v.Do.Supervisor, by, v.Do.Only, v.exit(t), seen)
	if v.Do.All {
		after, again, err = g.RestartAll(by, v.Do.Completes, v.exit(t), seen)
	}
	if v.Again != nil && !slices.Equal(again, v.Again) {
		t.Errorf("again %v, want %v", again, v.Again)
	}
	return after, err
}

func (v *vector) process() group.ServiceProcess {
	return group.ServiceProcess{
		Service: v.Do.Supervisor, PID: v.Do.PID, Process: observe.Process(v.Do.Process),
		Heartbeats: v.Do.Heartbeats != nil && *v.Do.Heartbeats, Progress: v.Do.Progress,
		Spend: v.Do.Spend.amounts(),
	}
}

func (v *vector) registration(t *testing.T, by string) group.Registration {
	r := group.Registration{
		Service: v.Do.Supervisor, By: by, Request: v.Do.Request, Fresh: v.Do.Fresh, PID: v.Do.PID,
		Process:   observe.Process(v.Do.Process),
		Readiness: v.Do.Readiness, Restartable: v.Do.Restartable, Dependencies: v.Do.Dependencies,
		Restart: policy.RestartType(v.Do.Restart), DependenciesCompleted: v.Do.Completed,
		Heartbeats: v.Do.Heartbeats,
	}

	if v.Do.KillTimeoutMs != nil {
		timeout := time.Duration(*v.Do.KillTimeoutMs) * time.Millisecond
		r.KillTimeout = &timeout
	}

	switch r.Significant, r.Resume = v.Do.Significant, v.Do.Resume; v.Do.OnDead {
	case "alert":
		r.OnDead = new(policy.OnDeadAlert)
	case "escalate":
		r.OnDead = new(policy.OnDeadEscalate)
	}

	switch v.Do.AlertOn {
	case "all":
		r.AlertOn = new(group.AlertOnAll)
	case "final":
		r.AlertOn = new(group.AlertOnFinal)
	}

	if v.Do.KeepEndedMs != 0 {
		r.KeepEnded = new(time.Duration(v.Do.KeepEndedMs) * time.Millisecond)
	}

	if len(v.Do.StartInfo) > 0 {
		file, err := group.DecodeRegistry(`{"supervisors":{"x":{"state":"registered","startInfo":` +
			string(v.Do.StartInfo) + `}}}`)
		if err != nil {
			t.Fatal(err)
		}
		r.StartInfo = file.Services[0].StartInfo
	}

	return r
}

func (v *vector) registerAll(t *testing.T, g group.Group, by string, seen observe.Observation) (
	group.Group, error,
) {
	text := `{"supervisors":` + string(v.Do.Services)
	if v.Do.Supervision != nil {
		text += `,"supervision":` + string(v.Do.Supervision)
	}
	file, err := group.DecodeServices(text + "}")
	if err != nil {
		return g, err
	}
	for _, d := range file.Services {
		d.StartInfo.Dir = path.Join("/", d.StartInfo.Dir)
	}

	r := group.FileRegistration{By: by, File: file, Prune: v.Do.Prune, Resume: v.Do.Resume}
	for name, value := range v.Do.Environment {
		r.Recorded.Variables = append(r.Recorded.Variables, group.Variable{Name: name, Value: value})
	}
	if v.Do.Umask != "" {
		if r.Recorded.Umask, err = group.ParseUmask(v.Do.Umask); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(r.Recorded.Variables,
		func(a, b group.Variable) int { return strings.Compare(a.Name, b.Name) })

	after, planned, err := g.RegisterAll(r, seen)
	var plan []vectorPlan
	for _, p := range planned {
		plan = append(plan, vectorPlan{p.ID, p.What, p.Members, p.AfterStop})
	}
	if err == nil && !reflect.DeepEqual(plan, v.Plan) {
		t.Errorf("plan %+v, want %+v", plan, v.Plan)
	}
	return after, err
}

// exit returns the records in v. Text that cannot be understood stands for one that says nothing.
func (v *vector) exit(t *testing.T) group.ExitLookup {
	return func(service, startID string) (group.ExitRecord, bool) {
		found, there := v.Do.Exits[startID]
		if !there || found.Unreadable {
			return group.ExitRecord{Unreadable: found.Unreadable}, there
		}
		x, err := group.DecodeExitRecord(string(found.Record))
		if err != nil {
			t.Fatal(err)
		}
		x.Complete = found.Complete
		return x, x.ServiceID == service
	}
}

// checkNeeded checks which exit records must stay after d. (After d the starts have other ids.)
func (v *vector) checkNeeded(t *testing.T, d *plan.Decision) {
	var needed []string
	for _, startID := range slices.Sorted(maps.Keys(v.Do.Exits)) {
		if slices.ContainsFunc(d.Group().Registry.Services, func(s group.Service) bool {
			return d.NeedsRecord(s.ID, startID)
		}) {
			needed = append(needed, startID)
		}
	}

	if !slices.Equal(needed, v.Needed) {
		t.Errorf("needs the records %v, want %v", needed, v.Needed)
	}
}

// parent returns the parent that text names, in a generation.
func parent(text string, generation int64) group.Parent {
	of, service, _ := strings.Cut(text, "/")
	return group.Parent{Group: of, Service: service, Generation: generation}
}

// checkLinks returns what becomes of the registration of groups as services.
func (v *vector) checkLinks(t *testing.T, g group.Group) error {
	var all []group.Link
	for service, child := range v.Do.Links {
		of := parent(service, 0)
		all = append(all, group.Link{Parent: of.Group, Service: of.Service, Child: child})
	}

	var becomes []struct{ Supervisor, Group string }
	if err := json.Unmarshal(v.Do.Services, &becomes); err != nil {
		t.Fatal(err)
	}
	var declared []group.Declaration
	for _, s := range becomes {
		declared = append(declared, group.Declaration{ID: s.Supervisor,
			ServiceSpec: group.ServiceSpec{StartInfo: &group.StartInfo{Group: s.Group}}})
	}
	return group.CheckLinks(all, g.ID, declared)
}

// environment returns why an environment file is refused.
func (v *vector) environment(t *testing.T) error {
	file, err := group.ParseEnvironment(v.Do.Text)
	if bad, ok := errors.AsType[group.BadLine](err); ok {
		if bad.Line != v.Line {
			t.Errorf("line %d, want %d", bad.Line, v.Line)
		}
		return err
	}

	var env, want []string
	for name, value := range v.Do.Environment {
		env = append(env, name+"="+value)
	}
	for name, value := range v.Environment {
		want = append(want, name+"="+value)
	}
	got := group.WithFile(env, file)
	slices.Sort(got)
	slices.Sort(want)
	if v.Refused == "" && !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	return err
}

// A vectorChild is what a pass sees of another group.
type vectorChild struct {
	Unreadable string           `json:"unreadable"`
	Parent     string           `json:"parent"`
	Generation int64            `json:"generation"`
	State      group.GroupState `json:"state"`
	Reason     policy.EndReason `json:"reason"`
	Message    string           `json:"message"`
	EndedAt    time.Time        `json:"endedAt"`
	Ready      bool             `json:"ready"`
}

func (v *vector) child(id string) group.ChildGroup {
	c := v.Do.Children[id]
	return group.ChildGroup{Unreadable: c.Unreadable, Parent: parent(c.Parent, c.Generation),
		End:   group.GroupEnd{State: c.State, Reason: c.Reason, Message: c.Message, At: c.EndedAt},
		Ready: c.Ready}
}

// actionOfGroup returns a as in a vector, if it is about another group.
func actionOfGroup(a plan.Action) (vectorAction, bool) {
	switch a := a.(type) {
	case plan.Begin:
		return vectorAction{Action: "begin", SupervisorID: a.Parent.Service, Group: a.Group,
			Generation: a.Parent.Generation}, true
	case plan.Finish:
		return vectorAction{Action: "end", SupervisorID: a.Parent.Service, Group: a.Group,
			Generation: a.Parent.Generation}, true
	}
	return vectorAction{}, false
}

func (v *vector) pass(t *testing.T, g group.Group, owner string, seen observe.Observation) (
	group.Group, error,
) {
	pid := v.Do.PID
	if pid == 0 {
		pid = 1
	}

	var limit *policy.Limit
	if v.Do.IntensityPeriodMs != nil {
		limit = &policy.Limit{Intensity: v.Do.Intensity, OnIntensity: v.Do.OnIntensity,
			Period: time.Duration(*v.Do.IntensityPeriodMs) * time.Millisecond}
	}

	var auto *policy.AutoShutdown
	switch v.Do.AutoShutdown {
	case "":
	case "never":
		auto = new(policy.ShutdownNever)
	default:
		auto = new(policy.AutoShutdown(v.Do.AutoShutdown))
	}

	var onExit *group.OnExit
	switch v.Do.OnExit {
	case "":
	case "none":
		onExit = new(group.NothingOnExit)
	default:
		onExit = new(group.OnExit(v.Do.OnExit))
	}

	var log *group.LogTarget
	switch v.Do.Log {
	case "":
	case "files":
		log = new(group.LogFiles)
	default:
		log = new(group.LogTarget(v.Do.Log))
	}

	var prompt *group.Prompt
	if p := v.Do.Prompt; p != nil {
		prompt = &group.Prompt{Service: p.Supervisor, StartID: p.StartID}
	}

	var health []group.HealthResult
	for _, c := range v.Do.Checks {
		health = append(health, group.HealthResult{Service: c.Supervisor, StartID: c.StartID,
			Passed: c.Passed, Output: c.Output, CannotRun: c.CannotRun})
	}

	request := plan.Request{
		Health: health,
		Owner:  owner, PID: pid, State: group.OrchestratorState(v.Do.State), Failover: v.Do.Failover,
		Hook: v.Do.Hook, LastAlert: v.Do.LastAlert,
		HeartbeatInterval:  time.Duration(v.Do.HeartbeatIntervalMs) * time.Millisecond,
		StalenessThreshold: time.Duration(v.Do.StalenessThresholdMs) * time.Millisecond,
		Strategy:           v.Do.Strategy, Limit: limit, AutoShutdown: auto, Rules: v.Do.Rules.all(),
		Window: v.Do.Window, Room: v.Do.Room, Started: v.Do.Started, OnExit: onExit, Log: log, Prompt: prompt,
		Exit: v.exit(t), Child: v.child,
	}
	d, err := plan.Pass(g, request, seen)
	if err != nil {
		return g, err
	}
	checkForecast(t, g, request, d, seen)
	if d.StandBy != v.StandBy {
		t.Errorf("stands by: %v, want %v", d.StandBy, v.StandBy)
	}

	var actions []vectorAction
	for i, a := range d.Actions {
		if act, ofGroup := actionOfGroup(a); ofGroup {
			actions = append(actions, act)
			continue
		}
		if a, signals := a.(plan.Signal); signals {
			actions = append(actions, vectorAction{Action: "signal", SupervisorID: a.ServiceID,
				Signal: a.Name, To: a.To, PID: a.PID})
			continue
		}

		a := a.(plan.Start)
		actions = append(actions, vectorAction{Action: "start", SupervisorID: a.ServiceID,
			Attempt: a.Attempt, Reason: a.Reason})
		switch start, ok := v.Do.Starts[a.ServiceID]; {
		case !ok:
			d.Spawned(a.ServiceID, plan.Spawned{PID: 1000 + i})
		case start.Error != "":
			d.NotSpawned(a.ServiceID, failure(start.Error, start.Short, false))
		default:
			d.Spawned(a.ServiceID, plan.Spawned{PID: start.PID,
				Process: observe.Process(start.Process), StartID: start.StartID,
				Keeper:  observe.Process(start.Keeper),
				LogFile: group.LogFile{Device: start.Device, Inode: start.Inode}})
		}
	}

	if !reflect.DeepEqual(actions, v.Actions) && len(actions)+len(v.Actions) > 0 {
		t.Errorf("actions %+v, want %+v", actions, v.Actions)
	}

	if !slices.Equal(d.Rotate, v.Rotate) {
		t.Errorf("rotates the logs of %q, want %q", d.Rotate, v.Rotate)
	}
	if !d.StandBy {
		v.checkNeeded(t, d)
	}
	return d.Group(), nil
}
