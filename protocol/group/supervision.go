package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Supervision is what a group does about the failures of its services as a whole (spec §22). Its
// zero value is that of a group without settings.
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
	End          End
	Parent       Parent
	Set          []string      // services that are restarted together, and have not started yet
	Rules        []policy.Rule // what follows violations; the first that matches counts
	Unknown      []wire.Member
}

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

// ForgetUnlimited removes what was charged to a limit that is none.
func (v *Supervision) ForgetUnlimited() {
	if v.Limit.Period == 0 {
		v.Limit, v.Restarts = policy.Limit{}, nil
	}
}

// InSet reports whether the service id restarts together with others, and has not started yet.
func (r Registry) InSet(id string) bool { return slices.Contains(r.Supervision.Set, id) }

// settle makes the settings of v those of w. What is not a setting stays.
func (v *Supervision) settle(w *Supervision) {
	v.Strategy, v.Window, v.Limit = w.Strategy, w.Window, w.Limit
	v.AutoShutdown, v.OnExit, v.Rules = w.AutoShutdown, w.OnExit, w.Rules
	v.Log = w.Log
	v.ForgetUnlimited()
}

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
	usually(c, "autoShutdown", &v.AutoShutdown, "word", "never", policy.ShutdownAny, policy.ShutdownAll)
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
