package question

import "testing"

// A request is shown as its tool and command.
func TestRequestString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		Request
		want string
	}{
		{Request{}, ""},
		{Request{Tool: "Read"}, "Read"},
		{Request{Argv: []string{"ls", "-l"}}, "ls -l"},
		{Request{Tool: "Bash", Shell: "ls; id"}, "Bash: ls; id"},
		{Request{Tool: "Bash", Argv: []string{}}, "Bash"},
	} {
		if got := c.String(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.Request, got, c.want)
		}
	}
}
