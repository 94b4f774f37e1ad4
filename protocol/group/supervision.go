package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Supervision is what a group does about the failures of its services as a whole (spec §22). Its
// zero value is that of a group without settings.
type Supervision struct {
	Strategy     Strategy
	Limit        Limit
	Restarts     []time.Time // what was charged to the Limit, in order. It is replaced, never changed
	Window       int         // how many services run at once; 0: all
	Blocked      string      // what the last alert groupBlocked said, while it is true
	Short        string      // what the last alert hostShort said, while a service waits for it
	AutoShutdown AutoShutdown
	OnExit       OnExit
	Log          LogTarget
	End          End
	Parent       Parent
	Set          []string // services that are restarted together, and have not started yet
	Rules        []Rule   // what follows violations; the first that matches counts
	Unknown      []wire.Member
}

// A Strategy says which services are restarted together with one that failed (spec §22.2).
type Strategy string

const (
	OneForOne  Strategy = "one_for_one" // none; "" means the same
	OneForAll  Strategy = "one_for_all"
	RestForOne Strategy = "rest_for_one" // those that come after it in order
)

func (s Strategy) valid() bool { return s == OneForOne || s.together() }

// together reports whether a failure concerns more than the service that failed.
func (s Strategy) together() bool { return s == OneForAll || s == RestForOne }

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
		slices.EqualFunc(v.Rules, w.Rules, Rule.same) &&
		slices.Equal(v.Unknown, w.Unknown)
}

// set sets what p gives. Without a limit, nothing is charged.
func (v *Supervision) set(p PassRequest) {
	if p.Strategy != "" {
		v.Strategy = p.Strategy
	}
	if p.Window != nil {
		v.Window = *p.Window
	}
	if p.Limit != nil {
		v.Limit = *p.Limit
	}
	if p.Rules != nil {
		v.Rules = p.Rules
	}
	if p.AutoShutdown != nil {
		v.AutoShutdown = *p.AutoShutdown
	}
	if p.OnExit != nil {
		v.OnExit = *p.OnExit
	}
	if p.Log != nil {
		v.Log = *p.Log
	}
	v.forgetUnlimited()
}

// forgetUnlimited removes what was charged to a limit that is none.
func (v *Supervision) forgetUnlimited() {
	if v.Limit.Period == 0 {
		v.Limit, v.Restarts = Limit{}, nil
	}
}

// inSet reports whether the service id restarts together with others, and has not started yet.
func (r Registry) inSet(id string) bool { return slices.Contains(r.Supervision.Set, id) }

// settle makes the settings of v those of w. What is not a setting stays.
func (v *Supervision) settle(w *Supervision) {
	v.Strategy, v.Window, v.Limit = w.Strategy, w.Window, w.Limit
	v.AutoShutdown, v.OnExit, v.Rules = w.AutoShutdown, w.OnExit, w.Rules
	v.Log = w.Log
	v.forgetUnlimited()
}

// readSetting reads the member name into v, and reports whether it is a setting.
func (v *Supervision) readSetting(r *wire.Reader, name string) bool {
	switch name {
	case "strategy":
		v.Strategy = wire.ReadWord(r, "strategy", Strategy.valid)
	case "window":
		v.Window = int(r.Int(1))
	case "intensity":
		v.Limit.Intensity = int(r.Int(0))
	case "intensityPeriodMs":
		v.Limit.Period = r.Milliseconds(1)
	case "onIntensity":
		v.Limit.OnIntensity = wire.ReadWord(r, "onIntensity", OnIntensity.valid)
	case "autoShutdown":
		v.AutoShutdown = readDefault(r, "never", ShutdownAny, ShutdownAll)
	case "onExit":
		v.OnExit = readDefault(r, "none", PassOnExit)
	case "log":
		v.Log = readDefault(r, "files", LogJournal)
	case "rules":
		r.Array(func() { v.Rules = append(v.Rules, readRule(r)) })
	default:
		return false
	}
	return true
}

func readSupervision(r *wire.Reader) (v Supervision) {
	r.Object(func(name string) {
		switch {
		case v.readSetting(r, name):
		case name == "restarts":
			r.Array(func() { v.Restarts = append(v.Restarts, r.Time()) })
		case name == "blocked":
			v.Blocked = r.String()
		case name == "short":
			v.Short = r.String()
		case name == "set":
			r.Array(func() { v.Set = append(v.Set, r.ID()) })
		default:
			if !v.End.read(r, name) && !v.Parent.read(r, name) {
				r.Unknown(&v.Unknown, name)
			}
		}
	})

	requireSettings(r)
	if r.Had("parent") || r.Had("generation") {
		r.Require("parent", "generation")
	}
	return v
}

// requireSettings refuses an object with a part of a limit.
func requireSettings(r *wire.Reader) {
	limit := []string{"intensity", "intensityPeriodMs", "onIntensity"}
	if slices.ContainsFunc(limit, r.Had) {
		r.Require(limit...)
	}
}

// write writes the member supervision, or nothing if v is empty.
func (v *Supervision) write(w *wire.Writer) {
	if v.empty() {
		return
	}

	w.Object("supervision", func(w *wire.Writer) {
		v.writeSettings(w)
		if len(v.Restarts) > 0 {
			w.Times("restarts", v.Restarts)
		}
		w.OptString("blocked", v.Blocked)
		w.OptString("short", v.Short)
		v.End.write(w)
		v.Parent.write(w)
		if len(v.Set) > 0 {
			w.Strings("set", v.Set)
		}
		w.Unknown(v.Unknown)
	})
}

// writeSettings writes the members of v that readSetting reads.
func (v *Supervision) writeSettings(w *wire.Writer) {
	w.OptString("strategy", string(v.Strategy))
	w.OptInt("window", int64(v.Window))
	if v.Limit.Period != 0 {
		w.Int("intensity", int64(v.Limit.Intensity))
		w.Milliseconds("intensityPeriodMs", v.Limit.Period)
		w.String("onIntensity", string(v.Limit.OnIntensity))
	}
	w.OptString("autoShutdown", string(v.AutoShutdown))
	w.OptString("onExit", string(v.OnExit))
	w.OptString("log", string(v.Log))
	writeRules(w, v.Rules)
}
