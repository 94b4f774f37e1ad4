package group

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An AlertLine is a line of the alerts file, without its newline.
type AlertLine struct {
	Seq  int64
	Text string
}

// Give returns what the hook of g gets of lines, which are the lines after the last alert that it
// was given, in order (spec §11.7). It leaves out the supervisorFailed of a crash whose restart was
// decided together with it, because the line after it says both. An alert about an exit also has
// the last exit of its service, as its last member, exit (§29.4).
func (g Group) Give(lines []AlertLine) (given []AlertLine) {
	alerts := make([]Alert, len(lines))
	for i, line := range lines {
		alerts[i] = readAlert(line.Text)
	}

	for i, line := range lines {
		if i+1 < len(lines) && alerts[i].saidBy(alerts[i+1]) {
			continue
		}
		given = append(given, AlertLine{line.Seq, g.withExit(line.Text, alerts[i])})
	}
	return given
}

// readAlert returns the alert of line, or the zero value if it is none.
func readAlert(line string) Alert {
	alert, _ := wire.Decode(line, 0, func(r *wire.Reader) (a Alert) {
		a.read(r)
		return a
	})
	return alert
}

// saidBy reports whether a is the failure of a service whose restart, next, was decided in the same
// pass.
func (a Alert) saidBy(next Alert) bool {
	return a.Type == AlertFailed && next.Type == AlertRestarted && a.ServiceID == next.ServiceID &&
		a.Timestamp.Equal(next.Timestamp)
}

// withExit returns line, which is that of alert, with the last exit of the service that the alert is
// about. If there is none, if it came after the alert, or if the alert is not about an exit, it
// returns line as it is.
func (g Group) withExit(line string, alert Alert) string {
	if !alert.Type.ofExit() {
		return line
	}

	s := g.Service(alert.ServiceID)
	if s == nil || s.LastExit == nil || s.LastExit.At.After(alert.Timestamp) {
		return line
	}

	exit := wire.Line(func(w *wire.Writer) { s.LastExit.write(w, "exit") })
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
