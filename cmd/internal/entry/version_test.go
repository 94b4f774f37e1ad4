package entry

import "testing"

func TestBuildString(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]Build{
		"v0.1.0 (commit 0123456789ab, 2026-01-31, go1.26.0)": {"v0.1.0", "0123456789ab",
			"2026-01-31T12:00:00Z", "go1.26.0"},
		"(devel) (go1.26.0)": {"(devel)", "", "", "go1.26.0"},
	} {
		if got := b.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
