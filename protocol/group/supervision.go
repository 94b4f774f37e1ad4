package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Supervision is what a group does about the failures of its services as a whole (supervision.md
// §22). Its zero value is that of a group without settings.
type Supervision struct {
	Strategy     policy.Strategy
	Limit        policy.Limit
	Restarts     []time.Time // what was charged to the Limit, in order. It is replaced, never changed
	Window       int         // how many services run at once; 0: all
	Blocked      string      // what the last alert groupBlocked said, while it is true
	Short        string      // what the last alert hostShort said, while a service waits for it
	AutoShutdown policy.AutoShutdown
	OnExit       OnExit
	Log          LogTarget
	End          GroupEnd
	Parent       Parent
	Set          []string      // services that are restarted together, and have not started yet
	Rules        []policy.Rule // what follows violations; the first that matches counts
	Unknown      []wire.Member
}

// A GroupEnd says that a group has ended, or is ending, and why (§23). Its zero value is that
// of a group that runs.
type GroupEnd struct {
	State   GroupState
	Reason  policy.EndReason
	Message string    // the same, in words
	At      time.Time // when it had ended
}

// String returns what people read, such as "memberDead: a: 5 attempts: exited: status 1".
func (e GroupEnd) String() string {
	if e.Message == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Message
}

// A GroupState says whether a group runs.
type GroupState string

const (
	GroupRunning GroupState = ""
	GroupEnding  GroupState = "ending" // its services are being stopped
	GroupEnded   GroupState = "ended"  // all of them are over
)

// An OnExit says what the keeper of a start does once its service has ended (§19.5).
type OnExit string

const (
	NothingOnExit OnExit = ""
	PassOnExit    OnExit = "pass" // it makes a pass over the group
)

// A LogTarget says where the output of services goes that are started from now on (groups.md
// §11.8).
type LogTarget string

const (
	LogFiles   LogTarget = ""        // to a file of each service
	LogJournal LogTarget = "journal" // to the journal of systemd
)

// JournalName returns the SYSLOG_IDENTIFIER by which the output of a service is found in the
// journal. No two services share one, because no id contains a slash.
func JournalName(groupID, service string) string { return "dpl/" + groupID + "/" + service }

// A Parent is the service of another group that a group is, in one of the starts of that service
// (§24). The zero value: it is none.
type Parent struct {
	Group, Service string
	Generation     int64
}

// String returns GROUP/SERVICE, as files have it.
func (p Parent) String() string { return p.Group + "/" + p.Service }

// SameService reports whether p and q are starts of the same service.
func (p Parent) SameService(q Parent) bool { return p.Group == q.Group && p.Service == q.Service }

// revive lets a group run as if it had never failed. Its parent begins it again if it is to run for
// that (§24.3).
func (v *Supervision) revive() { v.End, v.Restarts, v.Parent = GroupEnd{}, nil, Parent{} }

// empty reports whether v is the supervision of a group without settings.
func (v *Supervision) empty() bool {
	return v.same(&Supervision{})
}

// same reports whether v and w have the same text.
func (v *Supervision) same(w *Supervision) bool {
	return v.Strategy == w.Strategy && v.Window == w.Window && v.Blocked == w.Blocked &&
		v.Short == w.Short &&
		v.Limit == w.Limit && v.AutoShutdown == w.AutoShutdown && v.OnExit == w.OnExit &&
		v.Log == w.Log && v.End == w.End && v.Parent == w.Parent &&
		slices.Equal(v.Restarts, w.Restarts) && slices.Equal(v.Set, w.Set) &&
		slices.EqualFunc(v.Rules, w.Rules, policy.Rule.Same) &&
		slices.Equal(v.Unknown, w.Unknown)
}

// setSettings makes the settings of v those of w. What is not a setting stays.
func (v *Supervision) setSettings(w *Supervision) {
	v.Strategy, v.Window, v.Limit = w.Strategy, w.Window, w.Limit
	v.AutoShutdown, v.OnExit, v.Rules = w.AutoShutdown, w.OnExit, w.Rules
	v.Log = w.Log
	v.ForgetUnlimited()
}

// ForgetUnlimited removes what was charged to a limit that is none.
func (v *Supervision) ForgetUnlimited() {
	if v.Limit.Period == 0 {
		v.Limit, v.Restarts = policy.Limit{}, nil
	}
}

// Encode returns v as the registry has it (§22), without white space.
func (v *Supervision) Encode() string { return wire.Line(wire.Record(v.record)) }

// member is the member supervision, which is not written if v is empty.
func (v *Supervision) member(c *wire.Codec) {
	if c.At("supervision") {
		c.Object("supervision", v.record, wire.If(!v.empty()))
	}
}

func (v *Supervision) record(c *wire.Codec) {
	if !c.Record(&v.Unknown, v.members) {
		return
	}
	requireSettings(c)
	if c.Had("parent") || c.Had("generation") {
		c.Require("parent", "generation")
	}
}

// recordSettings reads the settings of a group, and nothing of its state.
func (v *Supervision) recordSettings(c *wire.Codec) {
	var unknown []wire.Member // refused
	if c.Record(&unknown, v.settings) {
		requireSettings(c)
	}
}

func (v *Supervision) members(c *wire.Codec) {
	v.settings(c)
	c.Times("restarts", &v.Restarts, wire.IfSet)
	c.String("blocked", &v.Blocked, wire.IfSet)
	c.String("short", &v.Short, wire.IfSet)
	v.End.members(c)
	v.Parent.members(c)
	c.Texts("set", &v.Set, (*wire.Reader).ID, wire.IfSet)
}

// settings are the members of v that a services file may have.
func (v *Supervision) settings(c *wire.Codec) {
	wire.Word(c, "strategy", &v.Strategy, "strategy", policy.Strategy.Valid, wire.IfSet)
	c.Int("window", &v.Window, 1, wire.IfSet)
	limited := wire.If(v.Limit.Period != 0)
	c.Int("intensity", &v.Limit.Intensity, 0, limited)
	c.Milliseconds("intensityPeriodMs", &v.Limit.Period, 1, limited)
	wire.Word(c, "onIntensity", &v.Limit.OnIntensity, "onIntensity", policy.OnIntensity.Valid, limited)
	usually(c, "autoShutdown", &v.AutoShutdown, "word", "never", policy.ShutdownAny,
		policy.ShutdownAll)
	usually(c, "onExit", &v.OnExit, "word", "none", PassOnExit)
	usually(c, "log", &v.Log, "word", "files", LogJournal)
	wire.Objects(c, "rules", &v.Rules, (*policy.Rule).Record, wire.IfSet)
}

// requireSettings refuses an object with a part of a limit.
func requireSettings(c *wire.Codec) {
	limit := []string{"intensity", "intensityPeriodMs", "onIntensity"}
	if slices.ContainsFunc(limit, c.Had) {
		c.Require(limit...)
	}
}

// members are those of an end, among those of a supervision.
func (e *GroupEnd) members(c *wire.Codec) {
	usually(c, "state", &e.State, "word", "running", GroupEnding, GroupEnded)
	c.String("reason", (*string)(&e.Reason), wire.IfSet)
	c.String("message", &e.Message, wire.IfSet)
	c.TimeOrNull("endedAt", &e.At, wire.IfSet)
}

// members are those of a parent, among those of a supervision.
func (p *Parent) members(c *wire.Codec) {
	c.Own("parent", p.read, p.write, wire.If(*p != Parent{}))
	c.Revision("generation", &p.Generation, wire.If(*p != Parent{}))
}

func (p *Parent) read(r *wire.Reader) {
	text := r.String()
	group, service, _ := strings.Cut(text, "/")
	if wire.CheckID(group) != nil || wire.CheckID(service) != nil {
		r.Refuse("%.40q is not GROUP/SERVICE", text)
	}
	p.Group, p.Service = group, service
}

func (p *Parent) write(w *wire.Writer) { w.String("parent", p.String()) }
