package group

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

func TestGiveWithExit(t *testing.T) {
	t.Parallel()
	line := func(what AlertType, id string, at time.Time) string {
		a := Alert{Seq: 1, Type: what, ServiceID: id, Timestamp: at}
		return strings.TrimSuffix(a.Line("g", "logs/g/s.log"), "\n")
	}
	g := Create("g")
	g.Registry.Services = []Service{{ID: "new"}, {ID: "s", ServiceStatus: ServiceStatus{
		LastExit: &policy.Exit{At: died, Reason: "exited", Code: policy.CodeExited}}}}
	const exit = `,"exit":{"at":"2026-01-20T10:29:00.000Z","reason":"exited","code":"exited","status":0}}`

	for _, alert := range []string{line(AlertDead, "s", died), line(AlertFailed, "s", died.Add(1e9)),
		line(AlertRestarted, "s", died), line(AlertRetrying, "s", died),
		line(AlertCompleted, "s", died)} {
		if got, want := given(g, alert), strings.TrimSuffix(alert, "}")+exit; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	for _, alert := range []string{line(AlertBlocked, "s", died), line(AlertDead, "new", died),
		line(AlertDead, "gone", died), line(AlertTakeover, "", died),
		line(AlertFailed, "s", died.Add(-1e6)), "{}", ""} {
		if got := given(g, alert); got != alert {
			t.Errorf("got %s, want %s", got, alert)
		}
	}
}

// given returns what the hook of g gets of a line.
func given(g Group, line string) string {
	alerts, _ := g.Give([]AlertLine{{1, line}}, false, observe.Observation{Now: died})
	return alerts[0].Text
}
