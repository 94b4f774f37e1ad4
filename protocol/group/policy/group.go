package policy

import (
	"slices"
	"time"
)

// A Limit says how many failures of its services a group permits in a time, and what follows a
// further one (supervision.md §21.3). Its zero value limits nothing.
type Limit struct {
	Intensity   int
	Period      time.Duration // 0: there is no limit
	OnIntensity OnIntensity
}

// Exceeded reports whether restarts are more than l allows.
func (l Limit) Exceeded(restarts []time.Time) bool {
	return l.Period != 0 && len(restarts) > l.Intensity
}

// An OnIntensity is what follows when the intensity of a group is exceeded.
type OnIntensity string

const (
	Escalate OnIntensity = "escalate" // the group ends
	Park     OnIntensity = "park"     // the services that failed are dead
	Delay    OnIntensity = "delay"    // restarts wait until the oldest failure no longer counts
)

// Valid reports whether o is one of them.
func (o OnIntensity) Valid() bool { return o == Escalate || o == Park || o == Delay }

// Charge returns times, in order, with one more at t: without those after now, and those more than
// period before the last one. times itself is not changed.
func Charge(times []time.Time, t time.Time, period time.Duration, now time.Time) []time.Time {
	all := slices.DeleteFunc(append(slices.Clone(times), t),
		func(t time.Time) bool { return t.After(now) })
	slices.SortFunc(all, time.Time.Compare)
	if len(all) == 0 {
		return nil
	}

	from := all[len(all)-1].Add(-period)
	return slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(from) })
}

// A Strategy says which services are restarted together with one that failed (§22.2).
type Strategy string

const (
	OneForOne  Strategy = "one_for_one" // none; "" means the same
	OneForAll  Strategy = "one_for_all"
	RestForOne Strategy = "rest_for_one" // those that come after it in order
)

// Valid reports whether s is one of them.
func (s Strategy) Valid() bool { return s == OneForOne || s.Together() }

// Together reports whether a failure concerns more than the service that failed.
func (s Strategy) Together() bool { return s == OneForAll || s == RestForOne }

// An OnDead is what follows when a service is given up.
type OnDead string

const (
	OnDeadAlert    OnDead = ""         // the others stay as they are
	OnDeadEscalate OnDead = "escalate" // the group ends
)

// An AutoShutdown says which significant services end their group when they are over.
type AutoShutdown string

const (
	ShutdownNever AutoShutdown = ""
	ShutdownAny   AutoShutdown = "any_significant"
	ShutdownAll   AutoShutdown = "all_significant"
)

// An EndReason says why a group ends.
type EndReason string

const (
	EndIntensity    EndReason = "intensity"    // too many of its services failed
	EndMemberDead   EndReason = "memberDead"   // a service was given up that it cannot do without
	EndAutoShutdown EndReason = "autoShutdown" // its significant services have done their work
	EndRequested    EndReason = "requested"    // the service that it is was stopped
)
