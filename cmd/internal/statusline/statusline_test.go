package statusline

import (
	"strings"
	"testing"
)

// The line takes the place of a longer one, fits on the terminal, and leaves nothing there.
func TestLine(t *testing.T) {
	var out strings.Builder
	columns := 80
	l := &Line{Out: &out, Width: func() int { return columns }}
	for _, step := range []struct {
		columns    int
		text, want string
	}{
		{80, "build: 10 done", "\rbuild: 10 done\r"},
		{80, "build: 9", "\rbuild: 9      \r"},
		{6, "build: 10", "\rbuild   \r"},
		{0, "build: 11", ""}, // it is in the background
		{80, "build: 12", "\rbuild: 12\r"},
	} {
		out.Reset()
		columns = step.columns
		if l.Draw(step.text); out.String() != step.want {
			t.Errorf("%q on %d columns: got %q, want %q", step.text, columns, out.String(), step.want)
		}
	}

	out.Reset()
	columns = 0
	if l.Erase(); out.Len() > 0 {
		t.Errorf("from the background it writes %q", out.String())
	}
	columns = 80
	l.Erase()
	l.Erase()
	(*Line)(nil).Erase()
	if got, want := out.String(), "\r"+strings.Repeat(" ", 9)+"\r"; got != want {
		t.Errorf("erased with %q, want %q", got, want)
	}
}
