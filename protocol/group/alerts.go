package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Give returns what the hook of g gets of lines, which are the lines after the last alert that it
// was given, in order (groups.md §11.7). It leaves out the supervisorFailed of a crash whose
// restart was decided together with it, because the line after it says both. An alert about an exit
// also has the last exit of its service, as its last member, exit (supervision.md §29.4).
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

// Given returns g after the hook got the alert seq (§11.7). If it asks for it again, the alert
// waits for another try, or after the last one, it is lost. Otherwise alerts up to seq were given.
// Given returns ErrExhausted.
func (g Group) Given(seq int64, again bool, seen observe.Observation) (Group, error) {
	d := g.Begin("given", "", seen)
	r := &d.Group.Registry
	if seq <= r.AlertsGiven {
		return g, nil
	}

	tries := r.AlertTries.of(seq) + 1
	if again && tries < MaxAlertTries {
		r.AlertTries = &AlertTries{Seq: seq, Tries: tries, At: d.Seen.Now}
		return d.end()
	}
	if again {
		lost := append(slices.Clone(r.AlertsLost), seq)
		r.AlertsLost = lost[max(len(lost)-maxAlertsLost, 0):]
	}
	r.AlertTries, r.AlertsGiven = nil, seq
	return d.end()
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

// A LogCut is how much the log of a service has lost because the disk was full.
type LogCut struct {
	ServiceID string
	Bytes     int64
}

// LogsCut returns g after by has cut logs (§11.8): an alert reports each. It returns
// wire.ErrExhausted.
func (g Group) LogsCut(cuts []LogCut, by string, seen observe.Observation) (Group, error) {
	d := g.Begin("logsCut", by, seen)
	for _, id := range g.Registry.Ordered() {
		i := slices.IndexFunc(cuts, func(c LogCut) bool { return c.ServiceID == id })
		if i >= 0 {
			d.Raise(AlertLogCut, id, "%d bytes: the disk was full", cuts[i].Bytes)
		}
	}
	return d.end()
}
