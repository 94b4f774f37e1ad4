package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An AlertLine is a line of the alerts file, without its newline.
type AlertLine struct {
	Seq  int64
	Text string
}

// A HookAlert is an alert as a hook gets it.
type HookAlert struct {
	AlertLine
	Try int // 1 the first time
}

// MaxAlertTries is how often a hook gets one alert at most (spec §11.7).
const MaxAlertTries = 10

// The time between two tries of an alert, and how many lost ones are kept.
const (
	firstAlertDelay  = time.Minute
	longestAlertWait = time.Hour
	maxAlertsLost    = 16
)

// AlertTries are the tries of an alert after which the hook has asked for another one.
type AlertTries struct {
	Seq     int64     // of the alert
	Tries   int       // from 1
	At      time.Time // of the last one
	Unknown []wire.Member
}

// Give returns what the hook of g gets of lines, which are the lines after the last alert that it
// was given, in order (spec §11.7). It leaves out the supervisorFailed of a crash whose restart
// was decided together with it, because the line after it says both. An alert about an exit also
// has the last exit of its service, as its last member, exit (§29.4).
//
// Silenced alerts are left out as well. The number upTo is that of the last line: when the hook has
// taken all that it gets, alerts up to that were given.
//
// As long as an alert waits for another try, it returns nothing, and upTo is 0. A pass that
// something has prompted does not make that try.
func (g Group) Give(lines []AlertLine, prompted bool, seen observe.Observation) (
	given []HookAlert, upTo int64,
) {
	if !g.Registry.alertDue(prompted, seen.Now) {
		return nil, 0
	}

	alerts := make([]Alert, len(lines))
	for i, line := range lines {
		alerts[i] = ReadAlert(line.Text)
	}
	for i, line := range lines {
		upTo = line.Seq
		if alerts[i].Silenced || i+1 < len(lines) && alerts[i].saidBy(alerts[i+1]) {
			continue
		}
		given = append(given, HookAlert{AlertLine{line.Seq, g.withExit(line.Text, alerts[i])},
			g.Registry.AlertTries.of(line.Seq) + 1})
	}
	return given, upTo
}

// alertDue reports whether the hook of r may get alerts now.
func (r *Registry) alertDue(prompted bool, now time.Time) bool {
	t := r.AlertTries
	if t == nil || t.Seq <= r.AlertsGiven {
		return true
	}
	delay := min(firstAlertDelay<<(t.Tries-1), longestAlertWait)
	waited := now.Sub(t.At)
	return !prompted && (waited >= delay || waited < 0) // the clock was set back
}

// of returns how many tries were made of the alert seq.
func (t *AlertTries) of(seq int64) int {
	if t == nil || t.Seq != seq {
		return 0
	}
	return t.Tries
}

// Given returns g after the hook got the alert seq (spec §11.7). If it asks for it again, the alert
// waits for another try, or after the last one, it is lost. Otherwise alerts up to seq were given.
// Given returns ErrExhausted.
func (g Group) Given(seq int64, again bool, seen observe.Observation) (Group, error) {
	e := g.Begin("given", "", seen)
	r := &e.Group.Registry
	if seq <= r.AlertsGiven {
		return g, nil
	}

	tries := r.AlertTries.of(seq) + 1
	if again && tries < MaxAlertTries {
		r.AlertTries = &AlertTries{Seq: seq, Tries: tries, At: e.Seen.Now}
		return e.end()
	}
	if again {
		lost := append(slices.Clone(r.AlertsLost), seq)
		r.AlertsLost = lost[max(len(lost)-maxAlertsLost, 0):]
	}
	r.AlertTries, r.AlertsGiven = nil, seq
	return e.end()
}

func (t *AlertTries) record(c *wire.Codec) { c.Record(&t.Unknown, t.members, "seq", "tries", "at") }

func (t *AlertTries) members(c *wire.Codec) {
	c.Revision("seq", &t.Seq, wire.Always)
	if c.Int("tries", &t.Tries, 1, wire.Always) && t.Tries >= MaxAlertTries {
		c.Refuse("less than %d is expected", MaxAlertTries)
	}
	c.Time("at", &t.At, wire.Always)
}

// ReadAlert returns the alert of line, or the zero value if it is none.
func ReadAlert(line string) Alert {
	alert, _ := wire.DecodeRecord(line, (*Alert).record)
	return alert
}

// saidBy reports whether a is the failure of a service whose restart, next, was decided in the same
// pass.
func (a Alert) saidBy(next Alert) bool {
	return a.Type == AlertFailed && next.Type == AlertRestarted && a.ServiceID == next.ServiceID &&
		a.Timestamp.Equal(next.Timestamp)
}

// withExit returns line, which is that of alert, with the last exit of the service that the alert
// is about. If there is none, if it came after the alert, or if the alert is not about an exit, it
// returns line as it is.
func (g Group) withExit(line string, alert Alert) string {
	if !alert.Type.ofExit() {
		return line
	}

	s := g.Service(alert.ServiceID)
	if s == nil || s.LastExit == nil || s.LastExit.At.After(alert.Timestamp) {
		return line
	}

	exit := wire.Line(func(w *wire.Writer) {
		w.Object("exit", wire.Record(s.LastExit.Record))
	})
	return strings.TrimSuffix(line, "}") + "," + strings.TrimPrefix(exit, "{")
}

// ofExit reports whether alerts of this type are raised because a process has ended, or did not
// start.
func (t AlertType) ofExit() bool {
	switch t {
	case AlertFailed, AlertRestarted, AlertRetrying, AlertDead, AlertCompleted:
		return true
	}
	return false
}
