package group

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

var died = time.Date(2026, 1, 20, 10, 29, 0, 0, time.UTC)

func TestRestartFile(t *testing.T) {
	t.Parallel()
	schema := vectors.NewSchemaCheck(t, "../..", "restart", "groups", nil)
	for _, exit := range []policy.Exit{
		{At: died, Reason: "exited", Code: policy.CodeExited, Status: 7, Note: "page 5"},
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
