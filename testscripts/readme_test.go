//go:build linux

package testscripts

import (
	"strings"
	"testing"
)

// TestReadme does all that the README shows, in order, at a terminal. It has to be short: people
// read it to decide whether to go on.
func TestReadme(t *testing.T) {
	t.Parallel()
	text := read(t, "README.md")
	if lines := strings.Count(text, "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, want 150 at most", lines)
	}

	blocks := page(text)
	if fences := strings.Count("\n"+text, "\n```"); fences != 2*len(blocks) {
		t.Errorf("README.md has %d lines of fences and %d blocks that can be run", fences,
			len(blocks))
	}

	r := beginReading(t, built(t), "bash", t.TempDir())
	for _, b := range blocks {
		r.follow(b)
	}
	r.leave()
}
