//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTerminalCheck looks at what dpl-check prints for people: a line for each finding, which no
// terminal obeys.
func TestTerminalCheck(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.json")
	text := `{"absent": {"rules.json": "\u001b"}, "files": ["no\u001bcne"], "prose": "It is nice.",
		"contains": {"rules.json": ["absent", "x"]}}`
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	y := sitDown(t, built(t), filepath.Join(built(t), "dpl-check"), rules, "--dir", filepath.Dir(rules))
	y.hear(t, "failed: looked at 4\r\n"+
		`  failed files no\u{1b}cne: it does not exist`+"\r\n"+
		"  uncertain prose It is nice.: a person must look\r\n")
	if got := y.end(t); got != "1" {
		t.Errorf("got %s, want 1", got)
	}
}
