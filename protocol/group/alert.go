package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Alert is a message for people or programs outside.
type Alert struct {
	Seq       int64
	Type      AlertType
	ServiceID string // "": the orchestrator itself
	Message   string
	Timestamp time.Time
	Silenced  bool // no hook gets it
	Unknown   []wire.Member
}

// An AlertType is the subject of an Alert (groups.md §9.4).
type AlertType string

const (
	AlertFailed    AlertType = "supervisorFailed"
	AlertRestarted AlertType = "supervisorRestarted"
	AlertDead      AlertType = "supervisorDead"
	AlertNudged    AlertType = "supervisorNudged"
	AlertBlocked   AlertType = "supervisorBlocked"
	AlertTakeover  AlertType = "orchestratorTakeover"
	AlertRebooted  AlertType = "hostRebooted"
	AlertCompleted AlertType = "supervisorCompleted"
	AlertRetrying  AlertType = "supervisorRetrying"
	AlertViolation AlertType = "violation"
	AlertPaused    AlertType = "supervisorPaused"
	AlertUnchecked AlertType = "supervisorUnchecked"

	AlertGroupEnded   AlertType = "groupEnded"
	AlertGroupBlocked AlertType = "groupBlocked"
	AlertHostShort    AlertType = "hostShort"
	AlertLogCut       AlertType = "logCut"
	AlertSilenceOver  AlertType = "silenceOver"

	AlertMaintenanceOver AlertType = "maintenanceOver"
)

// ofExit reports whether alerts of this type are raised because a process has ended, or did not
// start.
func (t AlertType) ofExit() bool {
	switch t {
	case AlertFailed, AlertRestarted, AlertRetrying, AlertDead, AlertCompleted:
		return true
	}
	return false
}

// saidBy reports whether a is the failure of a service whose restart, next, was decided in the same
// pass.
func (a Alert) saidBy(next Alert) bool {
	return a.Type == AlertFailed && next.Type == AlertRestarted && a.ServiceID == next.ServiceID &&
		a.Timestamp.Equal(next.Timestamp)
}

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

// AlertTries are the tries of an alert after which the hook has asked for another one.
type AlertTries struct {
	Seq     int64     // of the alert
	Tries   int       // from 1
	At      time.Time // of the last one
	Unknown []wire.Member
}

// of returns how many tries were made of the alert seq.
func (t *AlertTries) of(seq int64) int {
	if t == nil || t.Seq != seq {
		return 0
	}
	return t.Tries
}

// MaxAlertTries is how often a hook gets one alert at most (§11.7).
const MaxAlertTries = 10

// The time between two tries of an alert, and how many lost ones are kept.
const (
	firstAlertDelay  = time.Minute
	longestAlertWait = time.Hour
	maxAlertsLost    = 16
)

// ReadAlert returns the alert of line, or the zero value if it is none.
func ReadAlert(line string) Alert {
	alert, _ := wire.DecodeRecord(line, (*Alert).record)
	return alert
}

// Line returns the alert as a line of the alerts file of group (§11.7), with its newline. log
// is the path of the log of its service relative to the ledger, or "" if it concerns no service.
func (a Alert) Line(group, log string) string {
	return wire.Line(func(w *wire.Writer) {
		w.String("orchestrationGroupId", group)
		a.members(w.Codec())
		w.OptString("log", log)
		w.Unknown(slices.DeleteFunc(slices.Clone(a.Unknown), func(m wire.Member) bool {
			// A duplicate would not be valid JSON.
			return m.Name == "orchestrationGroupId" || m.Name == "log"
		}))
	}) + "\n"
}

func (a *Alert) record(c *wire.Codec) { c.Record(&a.Unknown, a.members, "seq", "timestamp") }

func (a *Alert) members(c *wire.Codec) {
	if c.Revision("seq", &a.Seq, wire.Always) && a.Seq == 0 {
		c.Refuse("an alert is counted from 1")
	}
	c.String("type", (*string)(&a.Type), wire.Always)
	c.ID("supervisorId", &a.ServiceID, wire.IfSet)
	c.String("message", &a.Message, wire.Always)
	c.Time("timestamp", &a.Timestamp, wire.Always)
	c.Bool("silenced", &a.Silenced, wire.IfSet)
}

func (t *AlertTries) record(c *wire.Codec) { c.Record(&t.Unknown, t.members, "seq", "tries", "at") }

func (t *AlertTries) members(c *wire.Codec) {
	c.Revision("seq", &t.Seq, wire.Always)
	if c.Int("tries", &t.Tries, 1, wire.Always) && t.Tries >= MaxAlertTries {
		c.Refuse("less than %d is expected", MaxAlertTries)
	}
	c.Time("at", &t.At, wire.Always)
}
