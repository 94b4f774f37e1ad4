package group

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

var died = time.Date(2026, 1, 20, 10, 29, 0, 0, time.UTC)

func TestRestartFile(t *testing.T) {
	t.Parallel()
	schema := vectors.NewSchemaCheck(t, "../..", "restart", "groups", nil)
	for _, exit := range []LastExit{
		{At: died, Reason: "exited", Code: CodeExited, Status: 7, Note: "page 5"},
		{At: died, Reason: "startFailed", Error: "no \"x\"\x00\xff"},
		{At: died},
	} {
		text := RestartFile{GroupID: "g", ServiceID: "s", StartID: "0123456789abcdef",
			Reason: "exited", Exit: exit, Log: LogEnd([]byte("a\x00\xffb\n"))}.Encode()
		if err := schema.Valid(text); err != nil {
			t.Errorf("%v:\n%s", err, text)
		}
	}
}

func TestLogEnd(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", LogEndSize-1)
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"short\n", "short\n"},
		{"é" + full, full},
		{"xé" + full[1:], "é" + full[1:]},
		{"😀" + full, full},
		{"😀" + full[1:], full[1:]},
		{"\x80" + full, "\uFFFD" + full}, // not cut
		{"x\xff\xfe" + full[1:], "\uFFFD" + full[1:]},
		{strings.Repeat("\x80", LogEndSize+3), "\uFFFD"},
	} {
		if got := LogEnd([]byte(c.log)); got != c.want {
			t.Errorf("%.20q, %d bytes: got %.20q, %d bytes, want %.20q, %d", c.log, len(c.log), got,
				len(got), c.want, len(c.want))
		}
	}
}

func TestWithExit(t *testing.T) {
	t.Parallel()
	line := func(what AlertType, id string, at time.Time) string {
		a := Alert{Seq: 1, Type: what, ServiceID: id, Timestamp: at}
		return strings.TrimSuffix(a.Line("g", "logs/g/s.log"), "\n")
	}
	g := Create("g")
	g.Registry.Services = []Service{{ID: "new"}, {ID: "s", ServiceStatus: ServiceStatus{
		LastExit: &LastExit{At: died, Reason: "exited", Code: CodeExited}}}}
	const exit = `,"exit":{"at":"2026-01-20T10:29:00.000Z","reason":"exited","code":"exited","status":0}}`

	for _, alert := range []string{line(AlertDead, "s", died), line(AlertFailed, "s", died.Add(1e9)),
		line(AlertRestarted, "s", died), line(AlertRetrying, "s", died),
		line(AlertCompleted, "s", died)} {
		if got, want := g.WithExit(alert), strings.TrimSuffix(alert, "}")+exit; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	for _, alert := range []string{line(AlertBlocked, "s", died), line(AlertDead, "new", died),
		line(AlertDead, "gone", died), line(AlertTakeover, "", died),
		line(AlertFailed, "s", died.Add(-1e6)), "{}", ""} {
		if got := g.WithExit(alert); got != alert {
			t.Errorf("got %s, want %s", got, alert)
		}
	}
}
